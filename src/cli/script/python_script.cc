#include "cli/script/python_script.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include "cli/script/python_call.h"
#include "cli/script/shell_command.h"
#include "cli/version.h"
#include "inputs/shape_spec.h"
#include "inputs/value_ranges.h"
#include "model/onnx_outputs.h"

namespace vernier {
namespace {

// Flags of ours that change nothing a script could say, or whose meaning the plan holds in the
// peer's words.
constexpr std::string_view kExpressible[] = {
    "python",          "no_progress", "backend_dir", "load_inputs_paths", "save_outputs_path",
    "warm_up",         "mark_all",    "onnxrt_lib",  "compare_outputs",   "data_loader_func_name",
    "exclude_outputs", "gen_script",  "fp_to_fp16"};

// Flags of the peer that only runners use which scripts are not written for.
bool IsOthers(std::string_view dest) {
  constexpr std::string_view kOthers[] = {"ckpt", "tf_outputs", "opset"};
  return std::find(std::begin(kOthers), std::end(kOthers), dest) != std::end(kOthers);
}

Status CheckExpressible(const RunPlan& plan, const ParsedArgs& args) {
  const std::string instead = "; --gen-script FILE.sh writes the command itself";
  for (const GivenOption& given : args.given()) {
    const OptionRow& row = *given.row;
    if (row.action == OptionAction::kRunner) continue;
    const bool known = std::find(std::begin(kExpressible), std::end(kExpressible), row.dest) !=
                       std::end(kExpressible);
    if (known || (row.origin == Origin::kPeer && !IsOthers(row.dest))) continue;
    return Unimplemented("--gen-script: Polygraphy's Python API has nothing like " +
                         std::string(given.flag) + instead);
  }
  constexpr std::string_view kWritten[] = {"onnxruntime", "pluginref"};
  for (const RunnerPlan& runner : plan.runners) {
    const bool onnx = runner.model.type == "onnx";
    if (onnx &&
        std::find(std::begin(kWritten), std::end(kWritten), runner.backend) != std::end(kWritten)) {
      continue;
    }
    return Unimplemented(
        "--gen-script: Python is written for --onnxrt and --pluginref on ONNX "
        "models, not for '" +
        runner.name + "'" + instead);
  }
  for (const CompareFunction function : plan.compare.functions) {
    if (function < CompareFunction::kRmse || function > CompareFunction::kKlDivergence) continue;
    return Unimplemented("--gen-script: Polygraphy's Python API has nothing like --compare " +
                         std::string(CompareFunctionName(function)) + instead);
  }
  return {};
}

struct FunctionClass {
  CompareFunction function;
  std::string_view name;
};
constexpr FunctionClass kClasses[] = {
    {CompareFunction::kSimple, "SimpleCompareFunc"},
    {CompareFunction::kIndices, "IndicesCompareFunc"},
    {CompareFunction::kL2, "L2CompareFunc"},
    {CompareFunction::kCosineSimilarity, "CosineSimilarityCompareFunc"},
    {CompareFunction::kPsnr, "PsnrCompareFunc"},
    {CompareFunction::kSnr, "SnrCompareFunc"},
    {CompareFunction::kPerceptual, "PerceptualMetricsCompareFunc"},
};

class Script {
 public:
  Script(const RunPlan& plan, const ParsedArgs& args) : plan_(plan), args_(args) {}

  Result<std::string> Write(const Invocation& invocation) {
    Loggers();
    VERNIER_TRY(DataLoader());
    VERNIER_TRY(Runners());
    Functions();
    Execution();
    Inputs();
    Postprocessing();
    Verdict();
    return Head(invocation) + body_;
  }

 private:
  std::string Head(const Invocation& invocation) const {
    std::string text =
        "#!/usr/bin/env python3\n# Written by vernier " + std::string(kVersion) +
        " for Polygraphy 0.53.\n# Generation Command: " + JoinForShell(invocation.words) +
        "\n\nfrom polygraphy.logger import G_LOGGER\n" + logger_ + "\n";
    for (const auto& [module, names] : imports_) {
      text += "from " + module + " import ";
      bool first = true;
      for (const std::string& name : names) {
        text += (first ? "" : ", ") + name;
        first = false;
      }
      text += "\n";
    }
    return text + (lazy_.empty() ? "" : lazy_ + "\n");
  }

  // The peer warms up, and uses processes, only where one runner follows another.
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
  std::string FromScript(const ScriptFunction& script) {
    return Call("polygraphy.backend.common", "InvokeFromScript")
        .Add(QuotePython(script.path))
        .Add("name", QuotePython(script.function))
        .Text();
  }

  void Loggers();
  Status DataLoader();
  std::string Shapes(const std::vector<ShapeSpec>& shapes);
  Status Runners();
  std::string OnnxLoader(const ModelPlan& model, size_t number, bool bytes);
  void Functions();
  void FillSimple(PythonCall& call) const;
  void Execution();
  void Inputs();
  void Postprocessing();
  void Verdict();

  const RunPlan& plan_;
  const ParsedArgs& args_;
  std::map<std::string, std::set<std::string>> imports_;
  std::string logger_, lazy_, body_;
  bool has_data_loader_ = false;
  bool data_is_a_function_ = false;
  std::vector<std::string> functions_;
};

std::string LevelName(Severity severity) {
  constexpr std::pair<Severity, std::string_view> kNames[] = {
      {Severity::kUltraVerbose, "ULTRA_VERBOSE"},
      {Severity::kSuperVerbose, "SUPER_VERBOSE"},
      {Severity::kExtraVerbose, "EXTRA_VERBOSE"},
      {Severity::kVerbose, "VERBOSE"},
      {Severity::kInfo, "INFO"},
      {Severity::kStart, "START"},
      {Severity::kFinish, "FINISH"},
      {Severity::kWarning, "WARNING"},
      {Severity::kError, "ERROR"},
      {Severity::kCritical, "CRITICAL"}};
  for (const auto& [known, name] : kNames) {
    if (known == severity) return "G_LOGGER." + std::string(name);
  }
  return "G_LOGGER.INFO";
}

void Script::Loggers() {
  const Result<ConsoleLogOptions> options = BindLog(args_);
  if (!options.ok()) return;
  const bool leveled = options->threshold != Severity::kInfo || !options->areas.empty();
  if (args_.Has("silent")) {
    logger_ += "G_LOGGER.module_severity = G_LOGGER.CRITICAL\n";
  } else if (leveled) {
    std::string levels = "'': " + LevelName(options->threshold);
    for (const auto& area : options->areas) {
      levels += ", " + QuotePython(area.area) + ": " + LevelName(area.threshold);
    }
    logger_ += "G_LOGGER.module_severity = {" + levels + "}\n";
  }
  if (options->timestamp) logger_ += "G_LOGGER.timestamp = True\n";
  if (options->line_info) logger_ += "G_LOGGER.line_info = True\n";
  for (const std::string& word : args_.List("log_format")) {
    if (word == "no-colors") logger_ += "G_LOGGER.colors = False\n";
  }
  if (!options->log_file.empty()) {
    logger_ += "G_LOGGER.log_file = " + QuotePython(options->log_file) + "\n";
  }
}

std::string Script::Shapes(const std::vector<ShapeSpec>& shapes) {
  Import("polygraphy.common", "TensorMetadata");
  std::string text = "TensorMetadata()";
  for (const ShapeSpec& spec : shapes) {
    std::string dims;
    for (const Dim& dim : spec.shape.value_or(std::vector<Dim>())) {
      const std::string one =
          dim.symbol.empty() ? std::to_string(dim.value) : QuotePython(dim.symbol);
      dims += (dims.empty() ? "" : ", ") + one;
    }
    text += ".add(" + QuotePython(spec.name) + ", None, " +
            (spec.shape ? "[" + dims + "]" : "None") + ")";
  }
  return text;
}

Status Script::DataLoader() {
  const InputPlan& inputs = plan_.inputs;
  if (inputs.script.given()) {
    Import("polygraphy", "mod");
    Title("Data Loader");
    Let("data_loader", "mod.import_from_script(" + QuotePython(inputs.script.path) +
                           ", name=" + QuotePython(inputs.script.function) + ")");
    has_data_loader_ = data_is_a_function_ = true;
    return {};
  }
  if (!inputs.load_paths.empty()) {
    Title("Data Loader");
    Let("data_loader", Compare("StreamingDataLoader")
                           .Add(FormatPythonList(inputs.load_paths))
                           .Add("allow_dirs", "True")
                           .Text());
    has_data_loader_ = true;
    return {};
  }
  VERNIER_ASSIGN_OR_RETURN(const std::vector<ShapeSpec> shapes,
                           ParseShapeSpecs(inputs.shape_words, Strictness::kPeer));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<NamedRange> ranges,
                           ParseValueRanges(inputs.range_words));
  std::set<std::string> names;
  for (const ShapeSpec& spec : shapes) {
    if (names.insert(spec.name).second) continue;
    return Unimplemented("--gen-script: Polygraphy does not use several --input-shapes of '" +
                         spec.name + "' in turn; --gen-script FILE.sh writes the command itself");
  }
  PythonCall call("DataLoader");
  std::string values;
  for (const NamedRange& range : ranges) {
    std::string bounds = FormatRange(range.range);
    bounds.front() = '(';
    bounds.back() = ')';
    for (const char* word : {"inf", "nan"}) {
      const size_t at = bounds.find(word);
      if (at != std::string::npos) bounds.replace(at, 3, "float('" + std::string(word) + "')");
    }
    values += (values.empty() ? "" : ", ") + QuotePython(range.name) + ": " + bounds;
  }
  call.AddIf(args_.Has("seed"), "seed", std::to_string(inputs.seed))
      .AddIf(inputs.iterations.has_value(), "iterations",
             std::to_string(inputs.iterations.value_or(1)))
      .AddIf(!values.empty(), "val_range", "{" + values + "}");
  if (!shapes.empty()) call.Add("input_metadata", Shapes(shapes));
  if (const auto module = args_.Value("data_loader_backend_module")) {
    call.Add("data_loader_backend_module", QuotePython(*module));
  }
  if (call.Text() == "DataLoader()") return {};
  Import("polygraphy.comparator", "DataLoader");
  Title("Data Loader");
  Let("data_loader", call.Text());
  has_data_loader_ = true;
  return {};
}

// The expression of a loader for one runner; each step gets a line and a name.
std::string Script::OnnxLoader(const ModelPlan& model, size_t number, bool bytes) {
  const std::string suffix = number == 0 ? "" : "_" + std::to_string(number);
  const std::string onnx = "polygraphy.backend.onnx";
  const bool loads = model.edited() || model.shape_inference || model.fp_to_fp16 ||
                     !model.save_path.empty() || !model.external_data_dir.empty();
  if (bytes && !loads) return QuotePython(model.path);
  std::string last;
  const auto step = [&](std::string name, const PythonCall& call) {
    last = name + suffix;
    Let(last, call.Text());
  };
  if (model.shape_inference) {
    PythonCall call = Call(onnx, "InferShapes").Add(QuotePython(model.path));
    call.AddIf(!model.external_data_dir.empty(), "external_data_dir",
               QuotePython(model.external_data_dir))
        .AddIf(!model.symbolic_inference, "allow_onnxruntime", "False");
    step("infer_shapes", call);
  } else {
    PythonCall call = Call(onnx, "OnnxFromPath").Add(QuotePython(model.path));
    call.AddIf(!model.external_data_dir.empty(), "external_data_dir",
               QuotePython(model.external_data_dir))
        .AddIf(model.ignore_external_data, "ignore_external_data", "True");
    step("load_onnx", call);
  }
  if (model.edited()) {
    PythonCall call = Call(onnx, "ModifyOutputs").Add(last);
    if (MeansAllOutputs(model.outputs)) {
      Import("polygraphy", "constants");
      call.Add("outputs", "constants.MARK_ALL");
    } else {
      call.AddIf(!model.outputs.empty(), "outputs", FormatPythonList(model.outputs));
    }
    call.AddIf(!model.outputs_by_type.empty(), "mark_types",
               FormatPythonList(model.outputs_by_type))
        .AddIf(!model.exclude_outputs.empty(), "exclude_outputs",
               FormatPythonList(model.exclude_outputs));
    step("modify_outputs", call);
  }
  if (model.fp_to_fp16) step("convert_to_fp16", Call(onnx, "ConvertToFp16").Add(last));
  if (!model.save_path.empty()) {
    PythonCall call = Call(onnx, "SaveOnnx").Add(last).Add("path", QuotePython(model.save_path));
    call.AddIf(model.save_external_data.has_value(), "external_data_path",
               QuotePython(model.save_external_data.value_or("")))
        .AddIf(model.save_threshold_given, "size_threshold",
               std::to_string(model.save_external_threshold))
        .AddIf(!model.save_one_file, "all_tensors_to_one_file", "False");
    step("save_onnx", call);
  }
  if (bytes) step("serialize_onnx", Call(onnx, "BytesFromOnnx").Add(last));
  return last;
}

Status Script::Runners() {
  if (plan_.runners.empty()) return {};
  Title("Loaders");
  std::string list;
  for (size_t i = 0; i < plan_.runners.size(); ++i) {
    const RunnerPlan& runner = plan_.runners[i];
    const bool own_name = args_.Runners()[i].kind == "runner";
    const std::string number = i == 0 ? "" : "_" + std::to_string(i);
    PythonCall entry("");
    if (runner.backend == "pluginref") {
      const std::string loader = OnnxLoader(runner.model, i, false);
      Let("load_gs" + number, Call("polygraphy.backend.onnx", "GsFromOnnx").Add(loader).Text());
      entry = Call("polygraphy.backend.pluginref", "PluginRefRunner").Add("load_gs" + number);
    } else {
      PythonCall session = Call("polygraphy.backend.onnxrt", "SessionFromOnnx")
                               .Add(OnnxLoader(runner.model, i, true));
      std::vector<std::string> providers;
      for (const auto& [key, value] : runner.session_options) {
        if (key == "providers") providers.push_back(value);
        if (key != "graph_optimization_level") continue;
        Import("polygraphy", "mod");
        lazy_ = "onnxrt = mod.lazy_import('onnxruntime')";
        session.Add("graph_optimization_level", "onnxrt.GraphOptimizationLevel." + value);
      }
      session.AddIf(!providers.empty(), "providers", FormatPythonList(providers));
      Let("build_onnxrt_session" + number, session.Text());
      entry =
          Call("polygraphy.backend.onnxrt", "OnnxrtRunner").Add("build_onnxrt_session" + number);
    }
    entry.AddIf(own_name, "name", QuotePython(runner.name));
    list += "    " + entry.Text() + ",\n";
  }
  Title("Runners");
  body_ += "runners = [\n" + list + "]\n";
  return {};
}

void Script::FillSimple(PythonCall& call) const {
  const CompareOptions& options = plan_.compare;
  PerOutput<std::string> stats;
  const auto first = [](const std::vector<ErrorStat>& list) {
    return std::string(ErrorStatName(list.empty() ? ErrorStat::kElemwise : list.back()));
  };
  if (options.check_error_stat.fallback) stats.fallback = first(*options.check_error_stat.fallback);
  for (const auto& [name, list] : options.check_error_stat.entries) {
    stats.entries.emplace_back(name, first(list));
  }
  call.AddGiven("rtol", options.rtol)
      .AddGiven("atol", options.atol)
      .AddGiven("check_error_stat", stats)
      .AddGiven("error_quantile", options.error_quantile)
      .AddIf(options.infinities_compare_equal, "infinities_compare_equal", "True");
  const PicturePlan& pictures = plan_.pictures;
  call.AddIf(!pictures.heatmaps.empty(), "save_heatmaps", QuotePython(pictures.heatmaps))
      .AddIf(pictures.show_heatmaps, "show_heatmaps", "True")
      .AddIf(!pictures.error_plots.empty(), "save_error_metrics_plot",
             QuotePython(pictures.error_plots))
      .AddIf(pictures.show_error_plots, "show_error_metrics_plot", "True");
}

void Script::Functions() {
  if (plan_.compare_script.given()) {
    functions_.push_back(FromScript(plan_.compare_script));
    return;
  }
  const CompareOptions& options = plan_.compare;
  Title("Comparison Functions");
  for (const CompareFunction function : options.functions) {
    const auto* known =
        std::find_if(std::begin(kClasses), std::end(kClasses),
                     [&](const FunctionClass& c) { return c.function == function; });
    PythonCall call = Compare(known->name);
    switch (function) {
      case CompareFunction::kSimple:
        FillSimple(call);
        break;
      case CompareFunction::kIndices:
        call.AddGiven("index_tolerance", options.index_tolerance);
        break;
      case CompareFunction::kL2:
        call.AddGiven("l2_threshold", options.l2_threshold);
        break;
      case CompareFunction::kCosineSimilarity:
        call.AddGiven("cosine_similarity_threshold", options.cosine_threshold);
        break;
      case CompareFunction::kPsnr:
        call.AddGiven("psnr_threshold", options.psnr_threshold);
        break;
      case CompareFunction::kSnr:
        call.AddGiven("snr_threshold", options.snr_threshold);
        break;
      default:
        call.AddGiven("lpips_threshold", options.lpips_threshold);
        break;
    }
    call.AddIf(options.no_shape_check && function != CompareFunction::kIndices, "check_shapes",
               "False")
        .AddIf(options.fail_fast, "fail_fast", "True");
    const std::string name = std::string(CompareFunctionName(function)) + "_compare_func";
    Let(name, call.Text());
    functions_.push_back(name);
  }
}

void Script::Execution() {
  if (plan_.runners.empty()) return;
  const ExecutionPlan& execution = plan_.execution;
  const SavePlan& save = plan_.save;
  Title("Runner Execution");
  PythonCall call("Comparator.run");
  Import("polygraphy.comparator", "Comparator");
  call.Add("runners")
      .AddIf(execution.warm_up > 0, "warm_up", std::to_string(execution.warm_up))
      .AddIf(has_data_loader_, "data_loader", data_is_a_function_ ? "data_loader()" : "data_loader")
      .AddIf(execution.use_subprocess, "use_subprocess", "True")
      .AddIf(!save.inputs.empty(), "save_inputs_path", QuotePython(save.inputs))
      .AddIf(!save.outputs.empty(), "save_outputs_path", QuotePython(save.outputs))
      .AddIf(!save.input_blobs.empty(), "save_input_blob_path", QuotePython(save.input_blobs))
      .AddIf(!IsSequential(), "streaming", "True");
  Let("results", call.Text());
}

void Script::Inputs() {
  const bool sequential = IsSequential();
  Title("Comparison Inputs");
  std::string list = plan_.runners.empty() ? "" : "results";
  for (const std::string& path : plan_.load_outputs) {
    Import("polygraphy.comparator", "RunResults");
    PythonCall load(sequential ? "RunResults.load" : "RunResults.load_streaming");
    load.Add(QuotePython(path)).AddIf(!sequential, "allow_dirs", "True");
    list += (list.empty() ? "" : ", ") + load.Text();
  }
  Let("runs", "[" + list + "]");
}

void Script::Postprocessing() {
  std::string function;
  if (plan_.postprocess_script.given()) {
    function = FromScript(plan_.postprocess_script);
  } else if (plan_.postprocess.fallback || !plan_.postprocess.entries.empty()) {
    function = Compare("TopKPostprocessFunc").Add(PythonOf(plan_.postprocess)).Text();
  }
  if (!function.empty()) {
    Title("Postprocessing");
    Let("runs", "Comparator.postprocess(runs, " + function + ")");
  }
  if (!plan_.validate || IsSequential()) return;
  Title("Output Validation");
  Let("runs", "Comparator.validate(runs, check_inf=True, check_nan=True)");
}

void Script::Verdict() {
  Import("polygraphy.comparator", "Comparator");
  Title("Accuracy Comparison");
  std::string list;
  for (const std::string& function : functions_) list += (list.empty() ? "" : ", ") + function;
  PythonCall call("Comparator.compare_accuracy");
  call.Add("runs").Add("compare_func", "[" + list + "]");
  call.AddIf(plan_.compare.fail_fast, "fail_fast", "True")
      .AddIf(plan_.compare.check_average, "check_average", "True");
  Let("accuracy_results", call.Text());
  if (!plan_.save.accuracy.empty()) {
    body_ += "accuracy_results.save(" + QuotePython(plan_.save.accuracy) + ")\n";
  }
  Let("success", "bool(accuracy_results)");
  if (plan_.validate && IsSequential()) {
    body_ += "success &= all(Comparator.validate(runs, check_inf=True, check_nan=True))\n";
  }
  Import("polygraphy.exception", "PolygraphyException");
  body_ += "\n# Report Results\nif not success:\n    raise PolygraphyException('FAILED')\n";
}

}  // namespace

Result<std::string> WritePythonScript(const RunPlan& plan, const ParsedArgs& args,
                                      const Invocation& invocation) {
  VERNIER_TRY(CheckExpressible(plan, args));
  return Script(plan, args).Write(invocation);
}

}  // namespace vernier
