#include "model/onnx/model_type.h"

#include <array>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "model/onnx/model_content.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

constexpr std::pair<ModelType, std::string_view> kNames[] = {
    {ModelType::kFrozen, "frozen"},   {ModelType::kKeras, "keras"},
    {ModelType::kCheckpoint, "ckpt"}, {ModelType::kSavedModel, "saved-model"},
    {ModelType::kOnnx, "onnx"},       {ModelType::kEngine, "engine"},
    {ModelType::kUff, "uff"},         {ModelType::kTrtNetworkScript, "trt-network-script"},
    {ModelType::kCaffe, "caffe"},
};

constexpr std::pair<std::string_view, ModelType> kExtensions[] = {
    {".hdf5", ModelType::kKeras},      {".uff", ModelType::kUff},
    {".prototxt", ModelType::kCaffe},  {".onnx", ModelType::kOnnx},
    {".engine", ModelType::kEngine},   {".plan", ModelType::kEngine},
    {".graphdef", ModelType::kFrozen}, {".py", ModelType::kTrtNetworkScript},
};

// In lower case; only looked at where Polygraphy knows no type.
constexpr std::pair<std::string_view, ModelType> kMoreExtensions[] = {
    {".onnx", ModelType::kOnnx},      {".h5", ModelType::kKeras},
    {".keras", ModelType::kKeras},    {".trt", ModelType::kEngine},
    {".plan", ModelType::kEngine},    {".engine", ModelType::kEngine},
    {".pb", ModelType::kFrozen},      {".uff", ModelType::kUff},
    {".prototxt", ModelType::kCaffe}, {".caffemodel", ModelType::kCaffe},
};

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// Python's splitext: dots at the start of a file name do not begin an extension.
std::string_view ExtensionOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const size_t start = name.find_first_not_of('.');
  const size_t dot = name.rfind('.');
  if (start == std::string_view::npos || dot == std::string_view::npos || dot < start) return {};
  return name.substr(dot);
}

}  // namespace

std::string_view ModelTypeName(ModelType type) {
  for (const auto& [candidate, name] : kNames) {
    if (candidate == type) return name;
  }
  return {};
}

std::optional<ModelType> ModelTypeFromName(std::string_view name) {
  for (const auto& [type, candidate] : kNames) {
    if (candidate == name) return type;
  }
  return std::nullopt;
}

std::span<const std::string_view> ModelTypeNames() {
  static constexpr auto kAll = [] {
    std::array<std::string_view, std::size(kNames)> names;
    for (size_t i = 0; i < names.size(); ++i) names[i] = kNames[i].second;
    return names;
  }();
  return kAll;
}

bool IsTensorFlowModel(ModelType type) {
  return type == ModelType::kFrozen || type == ModelType::kKeras ||
         type == ModelType::kCheckpoint || type == ModelType::kSavedModel;
}

std::string_view WayOut(ModelType type) {
  switch (type) {
    case ModelType::kUff:
      return "TensorRT 9 and later do not read UFF: convert the TensorFlow graph that the file was"
             " made from with tf2onnx, and give the .onnx file. If TensorRT 8 is installed, --trt"
             " runs the file, and `vernier convert FILE -o FILE.engine` builds an engine.";
    case ModelType::kCaffe:
      return "TensorRT 9 and later do not read Caffe: convert the prototxt and caffemodel to ONNX,"
             " with caffe2onnx for example, and give the .onnx file. If TensorRT 8 is installed,"
             " --trt runs the file, and `vernier convert FILE -o FILE.engine` builds an engine.";
    default:
      return {};
  }
}

ModelPath SplitModelPath(std::string_view argument) {
  ModelPath result;
  std::error_code error;
  result.path = std::string(argument);
  result.exists = fs::exists(result.path, error);
  if (!result.exists) {
    const size_t colon = argument.rfind(':');
    if (colon != std::string_view::npos) {
      result.path = std::string(argument.substr(0, colon));
      result.extra = std::string(argument.substr(colon + 1));
      result.exists = fs::exists(result.path, error);
    }
  }
  if (result.exists) {
    const fs::path absolute = fs::absolute(result.path, error);
    if (!error) result.path = absolute.lexically_normal().string();
    if (result.path.size() > 1 && result.path.back() == '/') result.path.pop_back();
  }
  return result;
}

std::optional<ModelType> ModelTypeFromExtension(std::string_view path) {
  const std::string_view extension = ExtensionOf(path);
  for (const auto& [known, type] : kExtensions) {
    if (known == extension) return type;
  }
  return std::nullopt;
}

Result<ModelType> InferModelType(const std::string& path, const ModelTypeHints& hints) {
  if (hints.given) return *hints.given;
  std::error_code error;
  if (hints.checkpoint_given) return ModelType::kCheckpoint;
  // A folder may be a SavedModel, a model.pb anything.
  const bool folder = fs::is_directory(path, error);
  if (folder) return TypeFromContent(path).value_or(ModelType::kCheckpoint);
  if (const std::optional<ModelType> known = ModelTypeFromExtension(path)) return *known;
  // Its bytes look like a graph of TensorFlow's.
  if (LowerCase(ExtensionOf(path)) == ".caffemodel") return ModelType::kCaffe;
  if (const std::optional<ModelType> content = TypeFromContent(path)) return *content;
  for (const auto& [known, type] : kMoreExtensions) {
    // With --tf Polygraphy takes everything else for a frozen graph.
    const bool counts = !hints.tensorflow_runner || type == ModelType::kKeras;
    if (counts && known == LowerCase(ExtensionOf(path))) return type;
  }
  if (hints.tensorflow_runner) return ModelType::kFrozen;
  const std::string extension = LowerCase(ExtensionOf(path));
  const bool torch = extension == ".pt" || extension == ".pt2" || extension == ".pth";
  return InvalidArgument("Could not automatically determine model type for: " + path +
                         "\nPlease explicitly specify the type with the --model-type option" +
                         (torch ? "\nNote: PyTorch's files run under --torch alone; --runner "
                                  "LABEL='torch FILE' gives it one of its own"
                                : ""));
}

}  // namespace vernier
