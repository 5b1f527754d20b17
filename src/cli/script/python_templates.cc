// Scripts to be filled in by hand: TensorRT networks, builder configurations, graph edits.
#include "cli/script/python_templates.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>

#include "cli/script/python_script_writer.h"
#include "model/edit/onnx_outputs.h"
#include "options/rows/tensorrt_rows.h"
#include "util/files/paths.h"
#include "util/process/own_program.h"
#include "util/text/cast_grammar.h"

namespace vernier {
namespace {

constexpr char kTrtTemplate[] = "polygraphy.backend.trt";
constexpr char kTodo[] = "    pass # TODO: Set up the ";
constexpr char kTodoEnd[] = " here. This function should not return anything.\n";

std::string Members(std::string_view enumeration, std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + TensorRtMember(enumeration, word);
  }
  return "[" + text + "]";
}

// TensorRT's enumerations have the names of the options: "TacticSource" of "tactic_sources".
std::string EnumerationOf(std::string_view dest, bool is_list) {
  std::string name;
  for (size_t i = 0; i < dest.size() - (is_list ? 1 : 0); ++i) {
    const bool starts = i == 0 || dest[i - 1] == '_';
    if (dest[i] != '_') name += starts ? static_cast<char>(dest[i] - 'a' + 'A') : dest[i];
  }
  return name;
}

// As the option's row has it: a switch, a number, one of some words, a file, or TensorRT's
// enumerators.
std::string KeywordValue(const ParsedArgs& args, const OptionRow& row) {
  if (row.arity == Arity::kNone) return "True";
  const std::string word(args.Value(row.dest).value_or(""));
  if (row.type == ValueType::kInt) return word;
  if (!row.choices.empty() || row.Files() != FileUse::kNone) return QuotePython(word);
  const bool is_list = row.arity == Arity::kStar;
  const std::string enumeration = EnumerationOf(row.dest, is_list);
  return is_list ? Members(enumeration, args.List(row.dest)) : TensorRtMember(enumeration, word);
}

void Add(const ParsedArgs& args, std::string_view dest, PythonCall& call) {
  const OptionRow* row = nullptr;
  for (const GivenOption& given : args.given()) row = given.row->dest == dest ? given.row : row;
  if (row != nullptr) call.Add(dest, KeywordValue(args, *row));
}

// "script.py:function"; a script alone means the function of that name.
ScriptFunction SplitScript(const std::string& word, const char* fallback) {
  const size_t colon = word.rfind(':');
  const bool named = colon != std::string::npos && word.substr(0, colon).ends_with(".py");
  if (!named) return {word, fallback};
  return {word.substr(0, colon), word.substr(colon + 1)};
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
  for (const std::string& word : args_.List("memory_pool_limit")) {
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
  if (const auto cache = args_.Value("calibration_cache")) call.Add("cache", QuotePython(*cache));
  if (const auto base = args_.Value("calibration_base_class")) {
    call.Add("BaseClass", PythonMember("trt", *base));
  }
  for (const char* name : {"quantile", "regression_cutoff"}) {
    if (const auto value = args_.Float(name)) call.Add(name, FormatFloatRepr(*value));
  }
  return call.Text();
}

void PythonScript::AddTactics(PythonCall& call) {
  if (const auto replay = args_.Value("load_tactics")) {
    call.Add("algorithm_selector",
             Call(kTrtTemplate, "TacticReplayer").Add("replay", QuotePython(*replay)).Text());
  } else if (const auto record = args_.Value("save_tactics")) {
    call.Add("algorithm_selector",
             Call(kTrtTemplate, "TacticRecorder").Add("record", QuotePython(*record)).Text());
  }
}

void PythonScript::AddCalibrator(PythonCall& call) {
  if (args_.Has("int8")) call.Add("calibrator", Calibrator());
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
    if (special == std::end(kSpecial)) {
      Add(args_, option->row.dest, call);
    } else {
      (this->*special->add)(call);
    }
  }
  return call.Text();
}

std::string PythonScript::Configuration(const std::string& name, bool& plain) {
  const auto script = args_.Value("trt_config_script");
  const auto change = args_.Value("trt_config_postprocess_script");
  const std::string made =
      script ? FromScript(SplitScript(std::string(*script), "load_config")) : CreateConfig();
  plain = made == "CreateTrtConfig()" && !change;
  if (!script) Import(kTrtTemplate, "CreateConfig as CreateTrtConfig");
  Let(name, made);
  if (!change) return name;
  Import(kTrtTemplate, "PostprocessConfig as PostprocessTrtConfig");
  const ScriptFunction function = SplitScript(std::string(*change), "postprocess_config");
  return Let("postprocess_trt_config",
             PythonCall("PostprocessTrtConfig").Add(name).Add("func", FromScript(function)));
}

Result<std::string> PythonScript::ConfigTemplate(const Invocation& invocation) {
  if (args_.Has("int8")) VERNIER_TRY(DataLoader());
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

std::string PythonScript::ParseNetwork(const std::string& config) {
  const ModelPlan& model = EngineRunner().model;
  ScriptFunction script = SplitScript(model.path, "load_network");
  if (script.path.ends_with(".py")) {
    std::error_code error;
    if (std::filesystem::exists(script.path, error)) script.path = AbsolutePath(script.path);
    return Let("load_network", Call("polygraphy.backend.common", "InvokeFromScript")
                                   .Add(QuotePython(script.path))
                                   .Add("name", QuotePython(script.function)));
  }
  ModelPlan plain = model;
  plain.path = AbsolutePath(model.path);
  // TensorRT wants types on outputs, so they are marked in the network instead.
  plain.outputs = plain.exclude_outputs = plain.outputs_by_type = {};
  const bool loads = plain.fp_to_fp16 || !plain.external_data_dir.empty();
  const std::string from =
      LoadPlugins(loads ? OnnxLoader(plain, "", true) : QuotePython(plain.path));
  PythonCall call =
      Call(kTrtTemplate, loads ? "NetworkFromOnnxBytes" : "NetworkFromOnnxPath").Add(from);
  std::vector<std::string> flags(args_.List("onnx_flags").begin(), args_.List("onnx_flags").end());
  if (args_.Has("enable_uint8_asymmetric_quantization_dla")) {  // the older name of one
    flags.emplace_back("ENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA");
  }
  call.AddIf(!flags.empty(), "flags", Members("OnnxParserFlag", flags));
  constexpr std::string_view kParser[] = {"plugin_instancenorm", "strongly_typed",
                                          "mark_unfused_tensors_as_debug_tensors"};
  for (const std::string_view dest : kParser) Add(args_, dest, call);
  call.AddIf(!config.empty(), "config", config);
  return Let("parse_network_from_onnx", call);
}

std::string PythonScript::NetworkOutputs(const std::string& from) {
  if (!args_.Has("trt_outputs") && !args_.Has("trt_exclude_outputs") &&
      !args_.Has("trt_outputs_by_type")) {
    return from;
  }
  PythonCall call = Call(kTrtTemplate, "ModifyNetworkOutputs").Add(from);
  const std::span<const std::string> outputs = args_.List("trt_outputs");
  if (MeansAllOutputs(std::vector<std::string>(outputs.begin(), outputs.end()))) {
    Import("polygraphy", "constants");
    call.Add("outputs", "constants.MARK_ALL");
  } else {
    call.AddIf(!outputs.empty(), "outputs", FormatPythonList(outputs));
  }
  const std::span<const std::string> excluded = args_.List("trt_exclude_outputs");
  const std::span<const std::string> types = args_.List("trt_outputs_by_type");
  call.AddIf(!excluded.empty(), "exclude_outputs", FormatPythonList(excluded))
      .AddIf(!types.empty(), "mark_layer_types", FormatPythonList(types));
  return Let("set_network_outputs", call);
}

// {'name': trt.float16}, or lists of formats.
Result<std::string> PythonScript::NamedTypes(std::string_view dest, bool formats) const {
  std::string text;
  for (const std::string& word : args_.List(dest)) {
    const KeyedWord split = SplitAtLast(word);
    if (split.key.empty() || split.value.empty()) {
      return InvalidArgument("Could not parse argument: " + word +
                             ". Expected an argument in the format: `key:value`.");
    }
    std::string value = PythonMember("trt", split.value);
    if (formats) {
      std::vector<std::string> names;
      std::string name;
      for (const char c : split.value + ",") {
        if (c == ',' && !name.empty()) names.push_back(std::exchange(name, ""));
        if (c != ',' && c != '[' && c != ']' && c != ' ') name += c;
      }
      value = Members("TensorFormat", names);
    }
    text += (text.empty() ? "" : ", ") + QuotePython(split.key) + ": " + value;
  }
  return "{" + text + "}";
}

Result<std::string> PythonScript::NetworkSteps(std::string last) {
  size_t step = 0;
  for (const std::string& word : args_.List("trt_network_postprocess_script")) {
    const ScriptFunction script = SplitScript(word, "postprocess");
    last = Let("postprocess_step_" + std::to_string(step++),
               Call(kTrtTemplate, "PostprocessNetwork")
                   .Add(last)
                   .Add("func", FromScript(script))
                   .Add("name", QuotePython(script.path + ":" + script.function)));
  }
  last = NetworkOutputs(last);
  struct Step {
    std::string_view dest, of_all;
    const char *loader, *name, *keyword;
    bool formats = false;
  };
  constexpr Step kTypes[] = {
      {"layer_precisions", {}, "SetLayerPrecisions", "set_layer_precisions", "layer_precisions"},
      {"tensor_dtypes", "all_tensor_dtypes", "SetTensorDatatypes", "set_tensor_datatypes",
       "tensor_datatypes"},
      {"tensor_formats", "all_tensor_formats", "SetTensorFormats", "set_tensor_formats",
       "tensor_formats", true}};
  for (const Step& row : kTypes) {
    if (row.dest == "tensor_dtypes" && args_.Has("decomposable_attentions")) {
      last = Let("set_decomposable_attentions",
                 Call(kTrtTemplate, "SetDecomposableAttentions").Add(last));
    }
    const bool all = !row.of_all.empty() && args_.Has(row.of_all);
    if (!all && !args_.Has(row.dest)) continue;
    std::string types;
    if (!all) {
      VERNIER_ASSIGN_OR_RETURN(types, NamedTypes(row.dest, row.formats));
    } else if (row.formats) {
      types = Members("TensorFormat", args_.List(row.of_all));
    } else {
      types = PythonMember("trt", *args_.Value(row.of_all));
    }
    last = Let(row.name, Call(kTrtTemplate, row.loader).Add(last).Add(row.keyword, types));
  }
  if (args_.Has("mark_debug")) {
    last = Let("mark_debug", Call(kTrtTemplate, "MarkDebug")
                                 .Add(last)
                                 .Add("mark_debug", FormatPythonList(args_.List("mark_debug"))));
  }
  return last;
}

Result<std::string> PythonScript::NetworkTemplate(const Invocation& invocation) {
  std::string signature = "load_network(builder, network, parser)";
  std::string last;
  if (plan_.runners.front().model.path.empty()) {
    signature = "load_network(builder, network)";
    last = Call(kTrtTemplate, "CreateNetwork").Text();
  } else {
    VERNIER_ASSIGN_OR_RETURN(last, NetworkSteps(ParseNetwork("")));
    body_ = "\n# Loaders\n" + body_;
  }
  const std::string suffix = FunctionTemplate(last, signature, "network");
  return TemplateText(invocation, "Creates a TensorRT Network using the Network API.", suffix);
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
                                        const ParsedArgs& args, const Invocation& invocation) {
  PythonScript script(plan, args);
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
