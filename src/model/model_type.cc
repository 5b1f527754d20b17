#include "model/model_type.h"

#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace vernier {
namespace {

namespace fs = std::filesystem;

constexpr std::pair<ModelType, std::string_view> kNames[] = {
    {ModelType::kFrozen, "frozen"},
    {ModelType::kKeras, "keras"},
    {ModelType::kCheckpoint, "ckpt"},
    {ModelType::kOnnx, "onnx"},
    {ModelType::kEngine, "engine"},
    {ModelType::kUff, "uff"},
    {ModelType::kTrtNetworkScript, "trt-network-script"},
    {ModelType::kCaffe, "caffe"},
};

constexpr std::pair<std::string_view, ModelType> kExtensions[] = {
    {".hdf5", ModelType::kKeras},      {".uff", ModelType::kUff},
    {".prototxt", ModelType::kCaffe},  {".onnx", ModelType::kOnnx},
    {".engine", ModelType::kEngine},   {".plan", ModelType::kEngine},
    {".graphdef", ModelType::kFrozen}, {".py", ModelType::kTrtNetworkScript},
};

// In lower case; only looked at where the peer knows no type.
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

// An ONNX file begins with its version, a small number, and goes on with another of ModelProto's
// fields. A frozen graph begins with a node.
bool LooksLikeOnnx(std::string_view bytes) {
  constexpr char kVersionTag = 0x08, kLargestVersion = 64;
  constexpr std::string_view kNextTags = "\x12\x1a\x22\x28\x32\x3a\x42\x72";
  return bytes.size() > 2 && bytes[0] == kVersionTag && bytes[1] > 0 &&
         bytes[1] < kLargestVersion && kNextTags.find(bytes[2]) != std::string_view::npos;
}

std::optional<ModelType> TypeOfContent(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  char head[8] = {};
  file.read(head, sizeof(head));
  const std::string_view bytes(head, static_cast<size_t>(file.gcount()));
  if (bytes.starts_with("ftrt") || bytes.starts_with("ptrt")) return ModelType::kEngine;
  if (bytes.starts_with("\x89HDF\r\n")) return ModelType::kKeras;
  if (LooksLikeOnnx(bytes)) return ModelType::kOnnx;
  return std::nullopt;
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

std::string_view WayOut(ModelType type) {
  switch (type) {
    case ModelType::kUff:
      return "TensorRT reads UFF no more since version 9: convert the TensorFlow graph that the file"
             " was made from with tf2onnx, and give the .onnx file.";
    case ModelType::kCaffe:
      return "TensorRT reads Caffe no more since version 9: convert the prototxt and caffemodel to"
             " ONNX, with caffe2onnx for example, and give the .onnx file.";
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
  if (hints.checkpoint_given || fs::is_directory(path, error)) return ModelType::kCheckpoint;
  if (const std::optional<ModelType> known = ModelTypeFromExtension(path)) return *known;
  // A model.pb may be either's.
  const std::optional<ModelType> content = TypeOfContent(path);
  if (content == ModelType::kOnnx) return *content;
  if (hints.tensorflow_runner) return ModelType::kFrozen;
  if (content) return *content;
  for (const auto& [known, type] : kMoreExtensions) {
    if (known == LowerCase(ExtensionOf(path))) return type;
  }
  return InvalidArgument("Could not automatically determine model type for: " + path +
                         "\nPlease explicitly specify the type with the --model-type option");
}

}  // namespace vernier
