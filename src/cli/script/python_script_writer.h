// A Python script against Polygraphy's API, put together section by section.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/script/python_call.h"
#include "inputs/shape_spec.h"
#include "options/bind/bind_run.h"
#include "report/text/console_log.h"
#include "vernier/compare_function.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

struct TensorRtOption;

inline constexpr char kTrtTemplate[] = "polygraphy.backend.trt";

/// "script.py:function"; a script alone means the function of that name.
ScriptFunction SplitScript(const std::string& word, const char* fallback);

/// What a script says of logging, and of the names of runners.
struct ScriptWords {
  ConsoleLogOptions log;
  LogWords log_words;
  std::vector<bool> labelled;  ///< runners that were named, in the plan's order
};

/// Writes the plan as it is, of which WritePythonScript knows that the API can say it all.
class PythonScript {
 public:
  explicit PythonScript(const RunPlan& plan, ScriptWords words = {})
      : plan_(plan), words_(std::move(words)) {}

  /// kUnimplemented for inputs that the API cannot make.
  Result<std::string> Write(const Invocation& invocation);

  // python_templates.cc: what WritePythonTemplate gives.
  Result<std::string> NetworkTemplate(const Invocation& invocation);
  Result<std::string> ConfigTemplate(const Invocation& invocation);
  std::string GraphTemplate(const Invocation& invocation);

 private:
  // Polygraphy warms up, and uses processes, only where one runner follows another.
  bool IsSequential() const {
    const ExecutionPlan& execution = plan_.execution;
    return execution.sequential || execution.warm_up > 0 || execution.use_subprocess;
  }
  void Import(const std::string& module, std::string_view name) {
    imports_[module].insert(std::string(name));
  }
  PythonCall Call(const std::string& module, std::string_view name) {
    Import(module, name);
    return PythonCall(name);
  }
  PythonCall Compare(std::string_view name) { return Call("polygraphy.comparator", name); }
  void Title(std::string_view title) { body_ += "\n# " + std::string(title) + "\n"; }
  void Let(std::string_view name, const std::string& value) {
    body_ += std::string(name) + " = " + value + "\n";
  }
  std::string Let(const std::string& name, const PythonCall& call) {
    Let(name, call.Text());
    return name;
  }
  std::string FromScript(const ScriptFunction& script) {
    return Call("polygraphy.backend.common", "InvokeFromScript")
        .Add(QuotePython(script.path))
        .Add("name", QuotePython(script.function))
        .Text();
  }

  std::string Head(const Invocation& invocation) const;
  void Loggers();

  // python_inputs.cc
  Status DataLoader();
  Status RandomData();
  std::string Shapes(const std::vector<ShapeSpec>& shapes);

  // python_engines.cc: names of the loaders of an engine, and the runner over them.
  std::string Named(const std::string& name);
  std::string LoadPlugins(const std::string& then);
  std::string Deserialize(const std::string& bytes);
  Result<std::string> Engine(const RunnerPlan& runner);
  Result<PythonCall> EngineRunnerCall(const RunnerPlan& runner);

  // python_runners.cc: the loader's functions return the name that the last line gave to a model.
  Status Runners();
  std::string OnnxLoader(const ModelPlan& model, const std::string& suffix, bool bytes);
  std::string LoadOnnx(const ModelPlan& model, const std::string& suffix);
  std::string ModifyOutputs(const ModelPlan& model, const std::string& from,
                            const std::string& suffix);
  std::string SaveOnnx(const ModelPlan& model, const std::string& from, const std::string& suffix);
  PythonCall Session(const RunnerPlan& runner, const std::string& suffix);

  // python_comparison.cc
  void Functions();
  void FillSimple(PythonCall& call) const;
  void FillThreshold(CompareFunction function, PythonCall& call) const;
  void Postprocessing();
  void Verdict();

  void Execution();
  void Results();

  // python_templates.cc
  void NeedTensorRt();
  std::string TemplateHead(const Invocation& invocation) const;
  std::string TemplateText(const Invocation& invocation, std::string_view about,
                           const std::string& suffix) const;
  std::string FunctionTemplate(const std::string& loader, std::string_view signature,
                               std::string_view what);
  void AddProfiles(PythonCall& call);
  void AddMemoryPools(PythonCall& call);
  void AddTactics(PythonCall& call);
  void AddCalibrator(PythonCall& call);
  std::string Calibrator();
  std::string CreateConfig();
  /// The name of a configuration's last loader; `plain`: it is TensorRT's default.
  std::string Configuration(const std::string& name, bool& plain);
  /// Of TensorRT; of a template the only one.
  const RunnerPlan& EngineRunner() const;
  /// What it was given for an option of TensorRT: its words, or the only one; nullopt: nothing.
  std::optional<std::vector<std::string>> EngineWords(std::string_view dest) const;
  std::optional<std::string> EngineWord(std::string_view dest) const;
  std::string EngineArgument(const OptionRow& row) const;
  std::string ParseNetwork(const std::string& config);
  Result<std::string> NamedTypes(std::span<const std::string> words, bool formats) const;
  Result<std::string> NetworkValueOf(const TensorRtOption& option);
  Result<std::string> NetworkStep(std::span<const TensorRtOption> options, const std::string& last);
  Result<std::string> NetworkSteps(std::string last);

  const RunPlan& plan_;
  const ScriptWords words_;
  std::map<std::string, std::set<std::string>> imports_;
  std::string logger_, lazy_, body_;
  std::set<std::string> lazies_;      // of templates
  std::string before_imports_;        // of templates
  std::map<std::string, int> named_;  // loaders of which there are several
  bool has_data_loader_ = false;
  bool data_is_a_function_ = false;
  std::vector<std::string> functions_;
};

}  // namespace vernier
