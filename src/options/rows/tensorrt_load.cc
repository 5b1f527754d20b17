#include "options/rows/tensorrt_rows.h"
#include "options/table/groups.h"

namespace vernier {
namespace {

constexpr OptionRow kPlugins[] = {
    {.flags = {"--plugins"},
     .dest = "plugins",
     .files = FileUse::kReads,
     .arity = Arity::kPlus,
     .metavar = "FILE",
     .help = "Plugin libraries to load, in order."},
};

constexpr OptionRow kParser[] = {
    {.flags = {"--onnx-flags"},
     .dest = "onnx_flags",
     .arity = Arity::kPlus,
     .metavar = "FLAG",
     .help = "Flags of TensorRT's ONNX parser, for example native_instancenorm."},
    {.flags = {"--plugin-instancenorm"},
     .dest = "plugin_instancenorm",
     .help = "Use the plugin for InstanceNormalization instead of TensorRT's own layers."},
    {.flags = {"--enable-uint8-asymmetric-quantization-dla"},
     .dest = "enable_uint8_asymmetric_quantization_dla",
     .help = "Old name of --onnx-flags ENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA."},
};

constexpr OptionRow kNetwork[] = {
    {.flags = {"--trt-outputs"},
     .dest = "trt_outputs",
     .arity = Arity::kPlus,
     .metavar = "NAME",
     .help = "Tensors to use as TensorRT outputs. Patterns are allowed; '*' or mark all takes every"
             " tensor."},
    {.flags = {"--trt-exclude-outputs"},
     .dest = "trt_exclude_outputs",
     .arity = Arity::kPlus,
     .metavar = "NAME",
     .help = "Tensors to remove from the TensorRT outputs. Patterns are allowed."},
    {.flags = {"--trt-outputs-by-type"},
     .dest = "trt_outputs_by_type",
     .arity = Arity::kPlus,
     .metavar = "LAYER_TYPE",
     .help = "Use the outputs of all layers of these types, for example CONVOLUTION."},
    {.flags = {"--layer-precisions"},
     .dest = "layer_precisions",
     .arity = Arity::kPlus,
     .metavar = "LAYER:TYPE",
     .help = "Precision of single layers, for example conv1:float16. See --precision-constraints."},
    {.flags = {"--decomposable-attentions"},
     .dest = "decomposable_attentions",
     .help = "Allow attention layers to be decomposed if no fused kernel fits."},
    {.flags = {"--tensor-dtypes", "--tensor-datatypes"},
     .dest = "tensor_dtypes",
     .arity = Arity::kPlus,
     .metavar = "TENSOR:TYPE",
     .help = "Types of single inputs and outputs, for example x:float16."},
    {.flags = {"--all-tensor-dtypes", "--all-tensor-datatypes"},
     .dest = "all_tensor_dtypes",
     .arity = Arity::kOne,
     .metavar = "TYPE",
     .help = "One type for all inputs and outputs; wins over --tensor-dtypes."},
    {.flags = {"--tensor-formats"},
     .dest = "tensor_formats",
     .arity = Arity::kPlus,
     .metavar = "TENSOR:[FORMAT,...]",
     .help = "Formats allowed for single inputs and outputs, for example x:[linear,chw4]."},
    {.flags = {"--all-tensor-formats"},
     .dest = "all_tensor_formats",
     .arity = Arity::kPlus,
     .metavar = "FORMAT",
     .help = "Formats allowed for all inputs and outputs; wins over --tensor-formats."},
    {.flags = {"--trt-network-postprocess-script", "--trt-npps"},
     .dest = "trt_network_postprocess_script",
     .sets = kEngineScript,
     .files = FileUse::kReads,
     .arity = Arity::kPlus,
     .metavar = "FILE[:FUNCTION]",
     .help =
         "Python functions (postprocess) that change the parsed network, in order. TensorRT then"
         " runs in Python."},
    {.flags = {"--strongly-typed"},
     .dest = "strongly_typed",
     .help = "Use the types of the network exactly as written."},
    {.flags = {"--mark-debug"},
     .dest = "mark_debug",
     .arity = Arity::kPlus,
     .metavar = "NAME",
     .help = "Mark these tensors as debug tensors and compare them too."},
    {.flags = {"--mark-unfused-tensors-as-debug-tensors"},
     .dest = "mark_unfused_tensors_as_debug_tensors",
     .help = "Mark every tensor that survives fusion as a debug tensor."},
};

constexpr OptionRow kEngine[] = {
    {.flags = {"--save-engine"},
     .dest = "save_engine",
     .files = FileUse::kWritesThere,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Save the engine that was built.",
     .needs = {"--trt"}},
    {.flags = {"--save-timing-cache"},
     .dest = "save_timing_cache",
     .files = FileUse::kCache,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Save tactic timings; those in FILE are kept."},
    {.flags = {"--load-runtime"},
     .dest = "load_runtime",
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Runtime library for a version compatible engine without its own lean runtime."},
    {.flags = {"--dla-workspace-allocation-strategy"},
     .dest = "dla_workspace_allocation_strategy",
     .arity = Arity::kOne,
     .metavar = "HOW",
     .help = "How accelerator workspace is allocated when an engine is loaded: default or"
             " shared_static. Needs TensorRT 11.3."},
};

}  // namespace

OptionGroup TensorRtPluginGroup() {
  static const std::vector<OptionRow> rows = EngineRows(kPlugins);
  return {"TensorRT plugins", "TensorRT plugin libraries", rows, "--trt"};
}

OptionGroup TensorRtParserGroup() {
  static const std::vector<OptionRow> rows = EngineRows(kParser);
  return {"TensorRT ONNX parser", "TensorRT's ONNX parser", rows, "--trt"};
}

OptionGroup TensorRtNetworkGroup() {
  static const std::vector<OptionRow> rows = EngineRows(kNetwork);
  return {"TensorRT network", "outputs, types and scripts of a TensorRT network", rows, "--trt"};
}

OptionGroup TensorRtEngineGroup() {
  static const std::vector<OptionRow> rows = EngineRows(kEngine);
  return {"TensorRT engine", "saving and loading TensorRT engines", rows, "--trt"};
}

std::vector<OptionGroup> TensorRtLoadGroup() {
  return {TensorRtPluginGroup(), TensorRtParserGroup(), TensorRtNetworkGroup(),
          TensorRtEngineGroup()};
}

}  // namespace vernier
