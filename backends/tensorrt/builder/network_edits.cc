#include "tensorrt/builder/network_edits.h"

#include <algorithm>
#include <map>
#include <set>

#include "tensorrt/library/option_list.h"
#include "tensorrt/library/option_words.h"
#include "tensorrt/library/trt_words.h"

namespace vernier::trt {
namespace {

using nvinfer1::ILayer;
using nvinfer1::INetworkDefinition;
using nvinfer1::ITensor;
using nvinfer1::LayerType;

std::vector<ILayer*> Layers(const INetworkDefinition& network) {
  std::vector<ILayer*> layers;
  for (int32_t i = 0; i < network.getNbLayers(); ++i) layers.push_back(network.getLayer(i));
  return layers;
}

std::vector<ITensor*> OutputsOf(const ILayer& layer) {
  std::vector<ITensor*> tensors;
  for (int32_t i = 0; i < layer.getNbOutputs(); ++i) {
    if (ITensor* tensor = layer.getOutput(i)) tensors.push_back(tensor);
  }
  return tensors;
}

void Append(const std::vector<ITensor*>& more, std::vector<ITensor*>& out) {
  for (ITensor* tensor : more) {
    if (std::find(out.begin(), out.end(), tensor) == out.end()) out.push_back(tensor);
  }
}

std::vector<ITensor*> AllTensors(const INetworkDefinition& network) {
  std::vector<ITensor*> tensors;
  for (const ILayer* layer : Layers(network)) Append(OutputsOf(*layer), tensors);
  return tensors;
}

// All layers' outputs but those of shapes and constants, and of the bodies of loops, which TensorRT
// cannot expose.
std::vector<ITensor*> MarkableTensors(const INetworkDefinition& network, Logger& logger) {
  std::vector<ITensor*> tensors;
  bool in_loop = false;
  for (const ILayer* layer : Layers(network)) {
    const LayerType type = layer->getType();
    const bool starts = type == LayerType::kTRIP_LIMIT || type == LayerType::kITERATOR ||
                        type == LayerType::kRECURRENCE;
    if (starts && !in_loop)
      logger.host().Warning("Tensors inside of loops cannot be marked as outputs");
    in_loop |= starts;
    if (type == LayerType::kLOOP_OUTPUT) in_loop = false;
    if (in_loop || type == LayerType::kSHAPE || type == LayerType::kCONSTANT) continue;
    Append(OutputsOf(*layer), tensors);
  }
  return tensors;
}

// The tensors that words name, exactly or by pattern.
Result<std::vector<ITensor*>> Select(const std::vector<ITensor*>& among,
                                     const std::vector<std::string>& words, std::string_view option,
                                     Logger& logger) {
  std::vector<ITensor*> selected;
  for (const std::string& word : words) {
    const size_t before = selected.size();
    for (ITensor* tensor : among) {
      if (tensor->getName() == word || (IsPattern(word) && Matches(word, tensor->getName()))) {
        Append({tensor}, selected);
      }
    }
    if (selected.size() > before) continue;
    if (IsPattern(word)) {
      logger.host().Warning("No tensors matched wildcard pattern: '" + word + "'");
      continue;
    }
    std::string names;
    for (const ITensor* tensor : among) {
      names += (names.empty() ? "'" : "', '") + std::string(tensor->getName());
    }
    return NotFound(std::string(option) + ": the network has no tensor '" + word + "'; it has " +
                    names + "'");
  }
  return selected;
}

void ReplaceOutputs(INetworkDefinition& network, const std::vector<ITensor*>& outputs) {
  for (int32_t i = network.getNbOutputs(); i-- > 0;) network.unmarkOutput(*network.getOutput(i));
  for (ITensor* tensor : outputs) {
    if (!tensor->isNetworkOutput()) network.markOutput(*tensor);
  }
}

bool MeansAll(const std::vector<std::string>& words) {
  return words == std::vector<std::string>{"*"} || words == std::vector<std::string>{"mark", "all"};
}

Status MarkOutputs(INetworkDefinition& network, const sdk::Options& options, Logger& logger) {
  const auto words = WordsOf(options, "trt_outputs");
  if (!words) return {};
  std::vector<ITensor*> outputs;
  if (MeansAll(*words)) {
    outputs = MarkableTensors(network, logger);
  } else {
    VERNIER_ASSIGN_OR_RETURN(outputs, Select(AllTensors(network), *words, "--trt-outputs", logger));
  }
  if (outputs.empty()) return NotFound("--trt-outputs: No outputs were selected.");
  ReplaceOutputs(network, outputs);
  return {};
}

Status MarkOutputsByType(INetworkDefinition& network, const sdk::Options& options) {
  const auto words = WordsOf(options, "trt_outputs_by_type");
  if (!words) return {};
  std::set<int32_t> types;
  for (const std::string& word : *words) {
    VERNIER_ASSIGN_OR_RETURN(const int32_t type,
                             LookUp(LayerTypeWords(), word, "--trt-outputs-by-type"));
    types.insert(type);
  }
  std::vector<ITensor*> outputs;
  for (const ILayer* layer : Layers(network)) {
    if (types.count(static_cast<int32_t>(layer->getType())) > 0) Append(OutputsOf(*layer), outputs);
  }
  if (!outputs.empty()) ReplaceOutputs(network, outputs);
  return {};
}

Status ExcludeOutputs(INetworkDefinition& network, const sdk::Options& options, Logger& logger) {
  const auto words = WordsOf(options, "trt_exclude_outputs");
  if (!words) return {};
  std::vector<ITensor*> marked;
  for (int32_t i = 0; i < network.getNbOutputs(); ++i) marked.push_back(network.getOutput(i));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<ITensor*> excluded,
                           Select(marked, *words, "--trt-exclude-outputs", logger));
  for (ITensor* tensor : excluded) network.unmarkOutput(*tensor);
  if (network.getNbOutputs() > 0) return {};
  return NotFound("--trt-exclude-outputs: no output is left");
}

// Precisions of layers and types of tensors went with weakly typed networks, in TensorRT 11.
template <typename Layer>
Status SetPrecision(Layer& layer, int32_t type) {
  if constexpr (requires { layer.setPrecision(nvinfer1::DataType{}); }) {
    layer.setPrecision(static_cast<nvinfer1::DataType>(type));
    return {};
  } else {
    return Unavailable("--layer-precisions is not available in TensorRT " +
                       VersionText(kHeaderVersion) + ", whose networks are strongly typed");
  }
}

template <typename Tensor>
Status SetTensorType(Tensor& tensor, int32_t type) {
  if constexpr (requires { tensor.setType(nvinfer1::DataType{}); }) {
    tensor.setType(static_cast<nvinfer1::DataType>(type));
    return {};
  } else {
    return Unavailable("--tensor-dtypes is not available in TensorRT " +
                       VersionText(kHeaderVersion) + ", whose networks are strongly typed");
  }
}

Status SetLayerPrecisions(INetworkDefinition& network, const sdk::Options& options,
                          Logger& logger) {
  for (const std::string& word :
       WordsOf(options, "layer_precisions").value_or(std::vector<std::string>())) {
    VERNIER_ASSIGN_OR_RETURN(const NamedWord named, SplitNamed(word, "--layer-precisions"));
    VERNIER_ASSIGN_OR_RETURN(const int32_t type, TrtTypeOfWord(named.value, "--layer-precisions"));
    bool found = false;
    for (ILayer* layer : Layers(network)) {
      if (layer->getName() != named.name) continue;
      VERNIER_TRY(SetPrecision(*layer, type));
      found = true;
    }
    if (!found) {
      logger.host().Warning("--layer-precisions: the network has no layer '" + named.name + "'");
    }
  }
  return {};
}

// A tensor between the layers that one node of the model became.
bool IsWithinNode(const ITensor& tensor) {
  return std::string_view(tensor.getName()).starts_with("(Unnamed Layer*");
}

// As Polygraphy chooses the layers that it marks: those that compute, and with these types.
bool TakesPrecision(const ILayer& layer) {
  if (layer.getType() == LayerType::kCONSTANT) return false;
  const std::vector<ITensor*> outputs = OutputsOf(layer);
  return std::all_of(outputs.begin(), outputs.end(), [](const ITensor* tensor) {
    const nvinfer1::DataType type = tensor->getType();
    return tensor->isExecutionTensor() &&
           (type == nvinfer1::DataType::kFLOAT || type == nvinfer1::DataType::kHALF ||
            type == nvinfer1::DataType::kINT8);
  });
}

using LayersByTensor = std::map<const ITensor*, ILayer*>;

Status SetPrecisionOfMakers(const LayersByTensor& makers, ITensor& made, int32_t type) {
  std::vector<ITensor*> tensors = {&made};
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto found = makers.find(tensors[i]);
    if (found == makers.end()) continue;  // an input
    ILayer& layer = *found->second;
    if (TakesPrecision(layer)) VERNIER_TRY(SetPrecision(layer, type));
    for (int32_t input = 0; input < layer.getNbInputs(); ++input) {
      ITensor* tensor = layer.getInput(input);
      if (tensor != nullptr && IsWithinNode(*tensor)) Append({tensor}, tensors);
    }
  }
  return {};
}

// Precisions for nodes of the model, by the tensors that they make: the layers that a node became
// need not have its name. A node that no layer is left of has none.
Status SetNodePrecisions(INetworkDefinition& network, const sdk::Options& options) {
  constexpr std::string_view kOption = "node precisions";
  const auto words = WordsOf(options, "node_precisions");
  if (!words) return {};
  LayersByTensor makers;
  std::map<std::string_view, ITensor*> tensors;
  for (ILayer* layer : Layers(network)) {
    for (ITensor* tensor : OutputsOf(*layer)) {
      makers.emplace(tensor, layer);
      tensors.emplace(tensor->getName(), tensor);
    }
  }
  for (const std::string& word : *words) {
    VERNIER_ASSIGN_OR_RETURN(const NamedWord named, SplitNamed(word, kOption));
    VERNIER_ASSIGN_OR_RETURN(const int32_t type, TrtTypeOfWord(named.value, kOption));
    const auto found = tensors.find(named.name);
    if (found == tensors.end()) continue;
    VERNIER_TRY(SetPrecisionOfMakers(makers, *found->second, type));
  }
  return {};
}

std::vector<ITensor*> InputsAndOutputs(const INetworkDefinition& network) {
  std::vector<ITensor*> tensors;
  for (int32_t i = 0; i < network.getNbInputs(); ++i) tensors.push_back(network.getInput(i));
  for (int32_t i = 0; i < network.getNbOutputs(); ++i) tensors.push_back(network.getOutput(i));
  return tensors;
}

Status SetTensorTypes(INetworkDefinition& network, const sdk::Options& options, Logger& logger) {
  const std::vector<ITensor*> tensors = InputsAndOutputs(network);
  if (const auto all = ValueOf(options, "all_tensor_dtypes")) {
    VERNIER_ASSIGN_OR_RETURN(const int32_t type, TrtTypeOfWord(*all, "--all-tensor-dtypes"));
    for (ITensor* tensor : tensors) VERNIER_TRY(SetTensorType(*tensor, type));
    return {};
  }
  for (const std::string& word :
       WordsOf(options, "tensor_dtypes").value_or(std::vector<std::string>())) {
    VERNIER_ASSIGN_OR_RETURN(const NamedWord named, SplitNamed(word, "--tensor-dtypes"));
    VERNIER_ASSIGN_OR_RETURN(const int32_t type, TrtTypeOfWord(named.value, "--tensor-dtypes"));
    VERNIER_ASSIGN_OR_RETURN(const std::vector<ITensor*> chosen,
                             Select(tensors, {named.name}, "--tensor-dtypes", logger));
    for (ITensor* tensor : chosen) VERNIER_TRY(SetTensorType(*tensor, type));
  }
  return {};
}

Result<uint32_t> FormatMask(const std::vector<std::string>& words, std::string_view option) {
  uint32_t mask = 0;
  for (const std::string& word : words) {
    VERNIER_ASSIGN_OR_RETURN(const int32_t format, LookUp(TensorFormatWords(), word, option));
    mask |= 1u << format;
  }
  return mask;
}

// "[linear,chw16]" as words. Polygraphy takes a value without brackets letter by letter.
std::vector<std::string> BracketedWords(std::string_view text) {
  if (const size_t end = text.rfind(']'); text.find('[') == 0 && end + 1 == text.size()) {
    text = text.substr(1, end - 1);
  }
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    std::string_view word = text.substr(0, end);
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
    if (!word.empty()) words.emplace_back(word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

Status SetTensorFormats(INetworkDefinition& network, const sdk::Options& options, Logger& logger) {
  const std::vector<ITensor*> tensors = InputsAndOutputs(network);
  const auto named = WordsOf(options, "tensor_formats");
  if (const auto all = WordsOf(options, "all_tensor_formats")) {
    constexpr std::string_view kOption = "--all-tensor-formats";
    if (named) logger.host().Warning("--all-tensor-formats is given: --tensor-formats is ignored");
    VERNIER_ASSIGN_OR_RETURN(const uint32_t mask, FormatMask(*all, kOption));
    for (ITensor* tensor : tensors) tensor->setAllowedFormats(mask);
    return {};
  }
  constexpr std::string_view kOption = "--tensor-formats";
  for (const std::string& word : named.value_or(std::vector<std::string>())) {
    VERNIER_ASSIGN_OR_RETURN(const NamedWord entry, SplitNamed(word, kOption));
    VERNIER_ASSIGN_OR_RETURN(const uint32_t mask, FormatMask(BracketedWords(entry.value), kOption));
    VERNIER_ASSIGN_OR_RETURN(const std::vector<ITensor*> chosen,
                             Select(tensors, {entry.name}, kOption, logger));
    for (ITensor* tensor : chosen) tensor->setAllowedFormats(mask);
  }
  return {};
}

// --mark-debug: tensors that are handed out while the engine runs.
Status MarkDebug(INetworkDefinition& network, const sdk::Options& options, Logger& logger) {
  const auto words = WordsOf(options, "mark_debug");
  if (!words) return {};
  return [&](auto& each) -> Status {
    if constexpr (requires(ITensor & tensor) { each.markDebug(tensor); }) {
      std::vector<ITensor*> tensors = AllTensors(each);
      Append(InputsAndOutputs(each), tensors);
      VERNIER_ASSIGN_OR_RETURN(const std::vector<ITensor*> chosen,
                               Select(tensors, *words, "--mark-debug", logger));
      for (ITensor* tensor : chosen) {
        if (each.markDebug(*tensor)) continue;
        return BackendError("--mark-debug: TensorRT refused '" + std::string(tensor->getName()) +
                            "': " + logger.TakeError());
      }
      return {};
    } else {
      return NotInThisRelease("--mark-debug");
    }
  }(network);
}

// --decomposable-attentions: each attention has a layer at its start.
Status SetDecomposable(INetworkDefinition& network, const sdk::Options& options) {
  if (!IsOn(options, "decomposable_attentions")) return {};
  constexpr auto kType = VERNIER_TRT_ENUMERATOR(LayerType, kATTENTION_INPUT);
  if (!kType) {
    return NotInThisRelease("--decomposable-attentions");
  }
#if VERNIER_TRT_AT_LEAST(11, 0)
  for (ILayer* layer : Layers(network)) {
    if (static_cast<int32_t>(layer->getType()) != *kType) continue;
    auto* boundary = static_cast<nvinfer1::IAttentionBoundaryLayer*>(layer);
    if (!boundary->getAttention()->setDecomposable(true)) {
      return BackendError("--decomposable-attentions: TensorRT refused it for '" +
                          std::string(layer->getName()) + "'");
    }
  }
#else
  (void)network;
#endif
  return {};
}

}  // namespace

std::vector<AskedPrecision> AskedPrecisions(const INetworkDefinition& network) {
  std::vector<AskedPrecision> asked;
  for (ILayer* layer : Layers(network)) {
    [&](auto& each) {
      if constexpr (requires { each.precisionIsSet(); }) {
        if (!each.precisionIsSet()) return;
        const DType dtype = DTypeOf(static_cast<int32_t>(each.getPrecision()));
        asked.push_back({each.getName(), std::string(DTypeName(dtype))});
      }
    }(*layer);
  }
  return asked;
}

Status EditNetwork(INetworkDefinition& network, const sdk::Options& options, Logger& logger) {
  VERNIER_TRY(MarkOutputs(network, options, logger));
  VERNIER_TRY(MarkOutputsByType(network, options));
  VERNIER_TRY(ExcludeOutputs(network, options, logger));
  VERNIER_TRY(SetNodePrecisions(network, options));
  VERNIER_TRY(SetLayerPrecisions(network, options, logger));
  VERNIER_TRY(SetDecomposable(network, options));
  VERNIER_TRY(SetTensorTypes(network, options, logger));
  VERNIER_TRY(SetTensorFormats(network, options, logger));
  return MarkDebug(network, options, logger);
}

}  // namespace vernier::trt
