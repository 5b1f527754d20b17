// What kind of model a path on the command line names.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "vernier/status.h"

namespace vernier {

enum class ModelType : uint8_t {
  kFrozen,  ///< TensorFlow frozen graph
  kKeras,
  kCheckpoint,  ///< TensorFlow checkpoint directory
  kSavedModel,  ///< TensorFlow SavedModel directory; Polygraphy has no word for it
  kOnnx,
  kEngine,  ///< TensorRT engine
  kUff,     ///< accepted by name only, as is Caffe
  kTrtNetworkScript,
  kCaffe
};

/// Polygraphy's word: "frozen", "keras", "ckpt", "onnx", "engine", "uff", "trt-network-script",
/// "caffe"; ours: "saved-model".
std::string_view ModelTypeName(ModelType type);
std::optional<ModelType> ModelTypeFromName(std::string_view name);
/// All names.
std::span<const std::string_view> ModelTypeNames();

/// Is this one of TensorFlow's formats?
bool IsTensorFlowModel(ModelType type);

/// For types that no framework of today reads: what to do instead, one sentence. Empty otherwise.
std::string_view WayOut(ModelType type);

/// A model argument `path[:extra]`.
struct ModelPath {
  std::string path;   ///< absolute if it exists
  std::string extra;  ///< a function's name in a script; empty if not given
  bool exists = false;
};

/// Splits at the last ':', unless the whole text names something that exists.
ModelPath SplitModelPath(std::string_view argument);

/// What else decides about the type.
struct ModelTypeHints {
  std::optional<ModelType> given;  ///< --model-type
  bool checkpoint_given = false;   ///< --ckpt
  bool tensorflow_runner = false;  ///< --tf
};

/// What the extension says, in Polygraphy's table; nullopt for one that is not in it.
std::optional<ModelType> ModelTypeFromExtension(std::string_view path);

/// Polygraphy's inference: --model-type; --ckpt or a directory; the extension (case-sensitive);
/// with
/// --tf a frozen graph. What Polygraphy does not know is recognised by content (SavedModel folders,
/// files with other extensions), and by extensions that Polygraphy does not know. kInvalidArgument
/// when nothing says.
Result<ModelType> InferModelType(const std::string& path, const ModelTypeHints& hints);

}  // namespace vernier
