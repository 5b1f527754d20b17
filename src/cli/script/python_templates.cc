// Scripts to be filled in by hand: TensorRT networks, builder configurations, graph edits.
#include "cli/script/python_templates.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>

#include "cli/script/python_script_writer.h"
#include "options/rows/tensorrt_rows.h"
#include "util/files/paths.h"
#include "util/process/own_program.h"
#include "util/text/cast_grammar.h"

namespace vernier {
namespace {

constexpr char kTodo[] = "    pass # TODO: Set up the ";
constexpr char kTodoEnd[] = " here. This function should not return anything.\n";

// TensorRT's enumerations have the names of the options: "TacticSource" of "tactic_sources".
std::string EnumerationOf(std::string_view dest, bool is_list) {
  std::string name;
  for (size_t i = 0; i < dest.size() - (is_list ? 1 : 0); ++i) {
    const bool starts = i == 0 || dest[i - 1] == '_';
    if (dest[i] != '_') name += starts ? static_cast<char>(dest[i] - 'a' + 'A') : dest[i];
  }
  return name;
}

// {'name': [1, 2]} of the plan's profiles: by number, by input, by "min", "opt" and "max".
using ProfileShapes = std::map<std::string, std::string>;
std::vector<std::vector<std::pair<std::string, ProfileShapes>>> ProfilesOf(
    const RunnerPlan& runner) {
  std::vector<std::vector<std::pair<std::string, ProfileShapes>>> profiles;
  for (const auto& [key, value] : runner.session_options) {
    if (key != "profile") continue;
    std::vector<std::string> fields;  // number, which, input, extents
    for (size_t at = 0; at <= value.size();) {
      const size_t tab = std::min(value.find('\t', at), value.size());
      fields.push_back(value.substr(at, tab - at));
      at = tab + 1;
    }
    const size_t number = std::stoul(fields[0]);
    if (profiles.size() <= number) profiles.resize(number + 1);
    auto& inputs = profiles[number];
    auto input = std::find_if(inputs.begin(), inputs.end(),
                              [&](const auto& entry) { return entry.first == fields[2]; });
    if (input == inputs.end()) input = inputs.insert(inputs.end(), {fields[2], {}});
    std::string extents;
    for (const char c : fields[3]) extents += c == ',' ? std::string(", ") : std::string(1, c);
    input->second[fields[1]] = "[" + extents + "]";
  }
  return profiles;
}

}  // namespace

ScriptFunction SplitScript(const std::string& word, const char* fallback) {
  const size_t colon = word.rfind(':');
  const bool named = colon != std::string::npos && word.substr(0, colon).ends_with(".py");
  if (!named) return {word, fallback};
  return {word.substr(0, colon), word.substr(colon + 1)};
}

void PythonScript::NeedTensorRt() {
  // As Polygraphy asks for it.
  lazies_.insert("trt = mod.lazy_import('tensorrt>=8.5')");
}

std::string PythonScript::TemplateText(const Invocation& invocation, std::string_view about,
                                       const std::string& suffix) const {
  std::string lines;
  for (const auto& [module, names] : imports_) {
    lines += "from " + module + " import ";
    for (auto name = names.begin(); name != names.end(); ++name) {
      lines += (name == names.begin() ? "" : ", ") + *name;
    }
    lines += "\n";
  }
  for (const std::string& lazy : lazies_) lines += lazy + "\n";
  const std::string title = body_.empty() ? "" : body_;
  return TemplateHead(invocation) + "# " + std::string(about) + "\n" + before_imports_ +
         "from polygraphy import mod\n" + lines + title + "\n" + suffix;
}

std::string PythonScript::FunctionTemplate(const std::string& loader, std::string_view signature,
                                           std::string_view what) {
  Import("polygraphy", "func");
  NeedTensorRt();
  return "@func.extend(" + loader + ")\ndef " + std::string(signature) + ":\n" + kTodo +
         std::string(what) + kTodoEnd;
}

void PythonScript::AddProfiles(PythonCall& call) {
  std::string text;
  for (const auto& profile : ProfilesOf(EngineRunner())) {
    text += (text.empty() ? "" : ",\n    ") + std::string("Profile()");
    for (const auto& [input, shapes] : profile) {
      text += ".add(" + QuotePython(input) + ", min=" + shapes.at("min") +
              ", opt=" + shapes.at("opt") + ", max=" + shapes.at("max") + ")";
    }
  }
  if (text.empty()) return;
  Import(kTrtTemplate, "Profile");
  Let("profiles", "[\n    " + text + "\n]");
  call.Add("profiles", "profiles");
}

void PythonScript::AddMemoryPools(PythonCall& call) {
  std::string pools;
  const auto limits = EngineWords("memory_pool_limit");
  for (const std::string& word : limits.value_or(std::vector<std::string>())) {
    const size_t colon = word.rfind(':');
    const Result<int64_t> bytes =
        ParseByteCount(colon == std::string::npos ? word : word.substr(colon + 1));
    if (colon == std::string::npos || !bytes.ok()) continue;  // the binding has refused it
    pools += (pools.empty() ? "" : ", ") + TensorRtMember("MemoryPoolType", word.substr(0, colon)) +
             ": " + std::to_string(*bytes);
  }
  call.AddIf(!pools.empty(), "memory_pool_limits", "{" + pools + "}");
}

std::string PythonScript::Calibrator() {
  PythonCall call = Call(kTrtTemplate, "Calibrator");
  Import("polygraphy.comparator", "DataLoader");
  call.Add("data_loader", has_data_loader_ ? (data_is_a_function_ ? "data_loader()" : "data_loader")
                                           : "DataLoader()");
  if (const auto cache = EngineWord("calibration_cache")) call.Add("cache", QuotePython(*cache));
  if (const auto base = EngineWord("calibration_base_class")) {
    call.Add("BaseClass", PythonMember("trt", *base));
  }
  for (const char* name : {"quantile", "regression_cutoff"}) {
    const auto value = ParseDouble(EngineWord(name).value_or(""));
    if (value) call.Add(name, FormatFloatRepr(*value));
  }
  return call.Text();
}

void PythonScript::AddTactics(PythonCall& call) {
  if (const auto replay = EngineWord("load_tactics")) {
    call.Add("algorithm_selector",
             Call(kTrtTemplate, "TacticReplayer").Add("replay", QuotePython(*replay)).Text());
  } else if (const auto record = EngineWord("save_tactics")) {
    call.Add("algorithm_selector",
             Call(kTrtTemplate, "TacticRecorder").Add("record", QuotePython(*record)).Text());
  }
}

void PythonScript::AddCalibrator(PythonCall& call) {
  if (EngineWords("int8")) call.Add("calibrator", Calibrator());
}

std::string PythonScript::CreateConfig() {
  struct Special {
    std::string_view argument;
    void (PythonScript::*add)(PythonCall& call);
  };
  constexpr Special kSpecial[] = {{"profiles", &PythonScript::AddProfiles},
                                  {"algorithm_selector", &PythonScript::AddTactics},
                                  {"memory_pool_limits", &PythonScript::AddMemoryPools},
                                  {"calibrator", &PythonScript::AddCalibrator}};
  PythonCall call("CreateTrtConfig");
  for (const TensorRtOption* option : TensorRtArguments()) {
    const auto* special = std::ranges::find(kSpecial, option->python.argument, &Special::argument);
    if (special != std::end(kSpecial)) {
      (this->*special->add)(call);
    } else if (EngineWords(option->row.dest)) {
      call.Add(option->row.dest, EngineArgument(option->row));
    }
  }
  return call.Text();
}

std::string PythonScript::Configuration(const std::string& name, bool& plain) {
  const auto script = EngineWord("trt_config_script");
  const auto change = EngineWord("trt_config_postprocess_script");
  const std::string made =
      script ? FromScript(SplitScript(*script, "load_config")) : CreateConfig();
  plain = made == "CreateTrtConfig()" && !change;
  if (!script) Import(kTrtTemplate, "CreateConfig as CreateTrtConfig");
  Let(name, made);
  if (!change) return name;
  Import(kTrtTemplate, "PostprocessConfig as PostprocessTrtConfig");
  const ScriptFunction function = SplitScript(*change, "postprocess_config");
  return Let("postprocess_trt_config",
             PythonCall("PostprocessTrtConfig").Add(name).Add("func", FromScript(function)));
}

Result<std::string> PythonScript::ConfigTemplate(const Invocation& invocation) {
  if (EngineWords("int8")) VERNIER_TRY(DataLoader());
  const std::string before = std::exchange(body_, "");
  bool plain = false;
  const std::string last = Configuration("create_trt_config", plain);
  if (plain) {  // Polygraphy gives it no other name here
    imports_.erase(kTrtTemplate);
    body_.clear();
    Let(last, Call(kTrtTemplate, "CreateConfig"));
  }
  body_ = before + "\n# Loaders\n" + body_;
  const std::string suffix =
      FunctionTemplate(last, "load_config(builder, network, config)", "builder configuration");
  return TemplateText(invocation, "Creates a TensorRT Builder Configuration.", suffix);
}

const RunnerPlan& PythonScript::EngineRunner() const {
  const auto found =
      std::find_if(plan_.runners.begin(), plan_.runners.end(),
                   [](const RunnerPlan& runner) { return runner.backend == "tensorrt"; });
  return found == plan_.runners.end() ? plan_.runners.front() : *found;
}

std::optional<std::vector<std::string>> PythonScript::EngineWords(std::string_view dest) const {
  const auto& options = EngineRunner().session_options;
  const auto found = std::find_if(options.rbegin(), options.rend(),
                                  [&](const auto& option) { return option.first == dest; });
  if (found == options.rend()) return std::nullopt;
  std::vector<std::string> words;
  std::string_view lines = found->second;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n'), lines.size());
    words.emplace_back(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return words;
}

std::optional<std::string> PythonScript::EngineWord(std::string_view dest) const {
  const auto words = EngineWords(dest);
  if (!words) return std::nullopt;
  return words->empty() ? std::string() : words->back();
}

// As the option's row has it: a switch, a number, one of some words, a file, or TensorRT's
// enumerators.
std::string PythonScript::EngineArgument(const OptionRow& row) const {
  if (row.arity == Arity::kNone) return "True";
  const std::string word = EngineWord(row.dest).value_or("");
  if (row.type == ValueType::kInt) return word;
  if (!row.choices.empty() || row.Files() != FileUse::kNone) return QuotePython(word);
  const bool is_list = row.arity == Arity::kStar;
  const std::string enumeration = EnumerationOf(row.dest, is_list);
  return is_list ? TensorRtMembers(enumeration,
                                   EngineWords(row.dest).value_or(std::vector<std::string>()))
                 : TensorRtMember(enumeration, word);
}

// Where Polygraphy is not installed, our stand-in has what the script needs of it.
std::string StandIn() {
  return "try:\n    import polygraphy\nexcept ImportError:  # vernier has what is needed of it\n"
         "    import sys\n    sys.path.append(" +
         QuotePython((OwnPrefix() / "libexec/vernier/shim").string()) + ")\n";
}

std::string PythonScript::GraphTemplate(const Invocation& invocation) {
  before_imports_ = StandIn();
  ModelPlan model = plan_.runners.front().model;
  model.path = AbsolutePath(model.path);
  const std::string loader = OnnxLoader(model, "", false);
  Let("load_gs", Call("polygraphy.backend.onnx", "GsFromOnnx").Add(loader));
  body_ = "\n# Loaders\n" + body_;
  lazies_ = {"gs = mod.lazy_import('onnx_graphsurgeon')", "onnx = mod.lazy_import('onnx')"};
  const std::filesystem::path path(model.path);
  const std::string updated =
      (path.parent_path() / (path.stem().string() + "_updated" + path.extension().string()))
          .string();
  const std::string suffix =
      "graph = load_gs()\n\n"
      "# The graph's own inputs and outputs can be set:\n#\n"
      "# graph.inputs = [...]\n# graph.outputs = [...]\n\n"
      "# All tensors, by their names:\n#\n# tensors = graph.tensors()\n\n"
      "# All nodes:\n#\n# for node in graph.nodes:\n"
      "#     print(node.name, node.op, node.inputs, node.outputs)\n\n"
      "# Before it is saved, the graph may have to be cleaned up and sorted:\n#\n"
      "# graph.cleanup()\n# graph.toposort()\n#\n"
      "onnx.save(gs.export_onnx(graph), " +
      QuotePython(updated) + ")\n";
  return TemplateText(invocation, "Processes an ONNX model.", suffix);
}

Result<std::string> WritePythonTemplate(PythonTemplate kind, const RunPlan& plan,
                                        const Invocation& invocation) {
  PythonScript script(plan);
  switch (kind) {
    case PythonTemplate::kNetwork:
      return script.NetworkTemplate(invocation);
    case PythonTemplate::kConfig:
      return script.ConfigTemplate(invocation);
    case PythonTemplate::kGraph:
      return script.GraphTemplate(invocation);
  }
  return Internal("no such template");
}

}  // namespace vernier
