// Scripts that make TensorRT networks: what parses a model, and what options do to its network.
#include <algorithm>
#include <filesystem>

#include "cli/script/python_script_writer.h"
#include "model/edit/onnx_outputs.h"
#include "options/rows/tensorrt_rows.h"
#include "util/files/paths.h"
#include "util/text/cast_grammar.h"

namespace vernier {
namespace {

// What scripts of Polygraphy call that which a loader makes: "set_layer_precisions" for
// "SetLayerPrecisions".
std::string StepName(std::string_view loader) {
  if (loader == "ModifyNetworkOutputs") return "set_network_outputs";
  std::string name;
  for (const char c : loader) {
    const bool starts = c >= 'A' && c <= 'Z';
    if (starts && !name.empty()) name += '_';
    name += starts ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return name;
}

}  // namespace

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
  std::vector<std::string> flags = EngineWords("onnx_flags").value_or(std::vector<std::string>());
  if (EngineWords("enable_uint8_asymmetric_quantization_dla")) {  // the older name of one
    flags.emplace_back("ENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA");
  }
  call.AddIf(!flags.empty(), "flags", TensorRtMembers("OnnxParserFlag", flags));
  for (const TensorRtOption& option : TensorRtOptions()) {
    const std::string_view dest = option.row.dest;
    call.AddIf(option.python.of_parser && EngineWords(dest), dest, "True");
  }
  call.AddIf(!config.empty(), "config", config);
  return Let("parse_network_from_onnx", call);
}

// {'name': trt.float16}, or lists of formats.
Result<std::string> PythonScript::NamedTypes(std::span<const std::string> words,
                                             bool formats) const {
  std::string text;
  for (const std::string& word : words) {
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
      value = TensorRtMembers("TensorFormat", names);
    }
    text += (text.empty() ? "" : ", ") + QuotePython(split.key) + ": " + value;
  }
  return "{" + text + "}";
}

Result<std::string> PythonScript::NetworkValueOf(const TensorRtOption& option) {
  const std::vector<std::string> words =
      EngineWords(option.row.dest).value_or(std::vector<std::string>());
  switch (option.python.value) {
    case NetworkValue::kNames:
      return FormatPythonList(words);
    case NetworkValue::kOutputs:
      if (!MeansAllOutputs(words)) {
        return FormatPythonList(words);
      }
      Import("polygraphy", "constants");
      return std::string("constants.MARK_ALL");
    case NetworkValue::kNamedTypes:
      return NamedTypes(words, false);
    case NetworkValue::kType:
      return PythonMember("trt", words.empty() ? "" : words.front());
    case NetworkValue::kNamedFormats:
      return NamedTypes(words, true);
    case NetworkValue::kFormats:
      return TensorRtMembers("TensorFormat", words);
  }
  return Internal("no such value");
}

// Options of one loader.
Result<std::string> PythonScript::NetworkStep(std::span<const TensorRtOption> options,
                                              const std::string& last) {
  const auto argument = [](const TensorRtOption& option) {
    return option.python.argument.empty() ? option.row.dest : option.python.argument;
  };
  const auto is_given = [&](const TensorRtOption& option) {
    return EngineWords(option.row.dest).has_value();
  };
  if (std::ranges::none_of(options, is_given)) return last;
  const std::string_view loader = options.front().python.loader;
  PythonCall call = Call(kTrtTemplate, loader).Add(last);
  for (size_t i = 0; i < options.size(); ++i) {
    const TensorRtOption& option = options[i];
    const bool replaced = std::ranges::any_of(options.subspan(i + 1), [&](const auto& later) {
      return is_given(later) && argument(later) == argument(option);
    });
    if (!is_given(option) || replaced || option.row.arity == Arity::kNone) continue;
    VERNIER_ASSIGN_OR_RETURN(const std::string value, NetworkValueOf(option));
    call.Add(argument(option), value);
  }
  return Let(StepName(loader), call);
}

Result<std::string> PythonScript::NetworkSteps(std::string last) {
  size_t step = 0;
  const auto scripts = EngineWords("trt_network_postprocess_script");
  for (const std::string& word : scripts.value_or(std::vector<std::string>())) {
    const ScriptFunction script = SplitScript(word, "postprocess");
    last = Let("postprocess_step_" + std::to_string(step++),
               Call(kTrtTemplate, "PostprocessNetwork")
                   .Add(last)
                   .Add("func", FromScript(script))
                   .Add("name", QuotePython(script.path + ":" + script.function)));
  }
  const std::span<const TensorRtOption> all = TensorRtOptions();
  for (auto first = all.begin(); first != all.end();) {
    const std::string_view loader = first->python.loader;
    const auto end = std::find_if(first, all.end(), [&](const TensorRtOption& option) {
      return option.python.loader != loader;
    });
    if (!loader.empty()) {
      VERNIER_ASSIGN_OR_RETURN(last, NetworkStep({first, end}, last));
    }
    first = end;
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

}  // namespace vernier
