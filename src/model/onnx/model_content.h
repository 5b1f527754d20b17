// What kind of model a file or folder holds, by what is in it.
#pragma once

#include <optional>
#include <string>

#include "model/onnx/model_type.h"

namespace vernier {

/// kSavedModel for a folder with saved_model.pb; kOnnx, kFrozen, kSavedModel, kKeras or kEngine
/// for a file that begins as those do. nullopt for anything else, and for what cannot be read. Only
/// headers are read: of a protobuf the tags of its outermost message.
std::optional<ModelType> TypeFromContent(const std::string& path);

}  // namespace vernier
