#include "cli/script/python_script_writer.h"
#include "model/edit/onnx_outputs.h"

namespace vernier {
namespace {

constexpr char kOnnx[] = "polygraphy.backend.onnx";

}  // namespace

std::string PythonScript::LoadOnnx(const ModelPlan& model, const std::string& suffix) {
  const bool infers = model.shape_inference;
  PythonCall call =
      Call(kOnnx, infers ? "InferShapes" : "OnnxFromPath").Add(QuotePython(model.path));
  call.AddIf(!model.external_data_dir.empty(), "external_data_dir",
             QuotePython(model.external_data_dir));
  if (infers) {
    call.AddIf(!model.symbolic_inference, "allow_onnxruntime", "False");
    return Let("infer_shapes" + suffix, call);
  }
  call.AddIf(model.ignore_external_data, "ignore_external_data", "True");
  return Let("load_onnx" + suffix, call);
}

std::string PythonScript::ModifyOutputs(const ModelPlan& model, const std::string& from,
                                        const std::string& suffix) {
  // Polygraphy's name for it, beside the one for TensorRT's networks.
  Import(kOnnx, "ModifyOutputs as ModifyOnnxOutputs");
  PythonCall call("ModifyOnnxOutputs");
  call.Add(from);
  if (MeansAllOutputs(model.outputs)) {
    Import("polygraphy", "constants");
    call.Add("outputs", "constants.MARK_ALL");
  } else {
    call.AddIf(!model.outputs.empty(), "outputs", FormatPythonList(model.outputs));
  }
  call.AddIf(!model.outputs_by_type.empty(), "mark_types", FormatPythonList(model.outputs_by_type))
      .AddIf(!model.exclude_outputs.empty(), "exclude_outputs",
             FormatPythonList(model.exclude_outputs));
  return Let("modify_outputs" + suffix, call);
}

std::string PythonScript::SaveOnnx(const ModelPlan& model, const std::string& from,
                                   const std::string& suffix) {
  PythonCall call = Call(kOnnx, "SaveOnnx").Add(from).Add("path", QuotePython(model.save_path));
  call.AddIf(model.save_external_data.has_value(), "external_data_path",
             QuotePython(model.save_external_data.value_or("")))
      .AddIf(model.save_threshold_given, "size_threshold",
             std::to_string(model.save_external_threshold))
      .AddIf(!model.save_one_file, "all_tensors_to_one_file", "False");
  return Let("save_onnx" + suffix, call);
}

std::string PythonScript::OnnxLoader(const ModelPlan& model, const std::string& suffix,
                                     bool bytes) {
  const bool loads = model.edited() || model.shape_inference || model.fp_to_fp16 ||
                     !model.save_path.empty() || !model.external_data_dir.empty();
  if (bytes && !loads) return QuotePython(model.path);
  std::string last = LoadOnnx(model, suffix);
  if (model.edited()) last = ModifyOutputs(model, last, suffix);
  if (model.fp_to_fp16)
    last = Let("convert_to_fp16" + suffix, Call(kOnnx, "ConvertToFp16").Add(last));
  if (!model.save_path.empty()) last = SaveOnnx(model, last, suffix);
  if (bytes) last = Let("serialize_onnx" + suffix, Call(kOnnx, "BytesFromOnnx").Add(last));
  return last;
}

PythonCall PythonScript::Session(const RunnerPlan& runner, const std::string& suffix) {
  PythonCall session = Call("polygraphy.backend.onnxrt", "SessionFromOnnx")
                           .Add(OnnxLoader(runner.model, suffix, true));
  std::vector<std::string> providers;
  for (const auto& [key, value] : runner.session_options) {
    if (key == "providers") providers.push_back(value);
    if (key != "graph_optimization_level") continue;
    Import("polygraphy", "mod");
    lazy_ = "onnxrt = mod.lazy_import('onnxruntime')";
    session.Add("graph_optimization_level", "onnxrt.GraphOptimizationLevel." + value);
  }
  return session.AddIf(!providers.empty(), "providers", FormatPythonList(providers));
}

Status PythonScript::Runners() {
  if (plan_.runners.empty()) return {};
  Title("Loaders");
  std::string list;
  for (size_t i = 0; i < plan_.runners.size(); ++i) {
    const RunnerPlan& runner = plan_.runners[i];
    const std::string suffix = i == 0 ? "" : "_" + std::to_string(i);
    PythonCall entry("");
    if (runner.backend == "tensorrt") {
      VERNIER_ASSIGN_OR_RETURN(entry, EngineRunnerCall(runner));
    } else if (runner.backend == "pluginref") {
      const std::string model = OnnxLoader(runner.model, suffix, false);
      const std::string graph = Let("load_gs" + suffix, Call(kOnnx, "GsFromOnnx").Add(model));
      entry = Call("polygraphy.backend.pluginref", "PluginRefRunner").Add(graph);
    } else {
      const std::string session = Let("build_onnxrt_session" + suffix, Session(runner, suffix));
      entry = Call("polygraphy.backend.onnxrt", "OnnxrtRunner").Add(session);
    }
    entry.AddIf(words_.labelled[i], "name", QuotePython(runner.name));
    list += "    " + entry.Text() + ",\n";
  }
  Title("Runners");
  body_ += "runners = [\n" + list + "]\n";
  return {};
}

}  // namespace vernier
