#include "model/onnx/model_content.h"

#include <filesystem>
#include <string_view>

#include "util/files/mapped_file.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHdf5Magic = "\x89HDF\r\n\x1a\n";
constexpr std::string_view kZipMagic = "PK\x03\x04";

// The fields of a protobuf message's outermost level.
class TopLevel {
 public:
  explicit TopLevel(std::string_view bytes) : rest_(bytes) {}

  // False at the end and at anything that is no protobuf.
  bool Next() {
    uint64_t tag = 0, size = 0;
    if (!ok_ || rest_.empty() || !Varint(tag)) return false;
    field = static_cast<uint32_t>(tag >> 3);
    wire_type = static_cast<uint32_t>(tag & 7);
    if (wire_type == 0) return Varint(number);
    if (wire_type == 1 || wire_type == 5) return Skip(wire_type == 1 ? 8 : 4);
    return wire_type == 2 ? Varint(size) && Skip(size) : Bad();
  }

  bool ok() const { return ok_; }

  uint32_t field = 0;
  uint32_t wire_type = 0;
  uint64_t number = 0;  // of a varint

 private:
  bool Bad() { return ok_ = false; }
  bool Skip(uint64_t size) {
    if (size > rest_.size()) return Bad();
    rest_.remove_prefix(size);
    return true;
  }
  bool Varint(uint64_t& value) {
    value = 0;
    for (size_t i = 0; i < rest_.size() && i < 10; ++i) {
      const auto byte = static_cast<uint8_t>(rest_[i]);
      value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
      if (byte < 0x80) return Skip(i + 1);
    }
    return Bad();
  }

  std::string_view rest_;
  bool ok_ = true;
};

// GraphDef begins with messages in field 1. SavedModel has a version there, which has always been
// 1, and graphs in field 2; ONNX's ModelProto has a version there, too, and more fields than those.
std::optional<ModelType> TypeOfProtobuf(std::string_view bytes) {
  // Repeated nodes may be many, and add nothing.
  constexpr int kEnough = 64;
  constexpr uint64_t kLargestOnnxVersion = 64;
  TopLevel fields(bytes);
  bool nodes = false, graphs = false, more = false;
  uint64_t version = 0;
  for (int i = 0; i < kEnough && fields.Next(); ++i) {
    const bool message = fields.wire_type == 2;
    nodes |= fields.field == 1 && message;
    graphs |= fields.field == 2 && message;
    more |= (fields.field == 7 || fields.field == 8) && message;
    if (fields.field == 1 && fields.wire_type == 0) version = fields.number;
  }
  // An ONNX file that was cut short is still one.
  const bool begun = fields.ok() || bytes.size() > 2;
  if (version > 1 && version < kLargestOnnxVersion && begun && !nodes) return ModelType::kOnnx;
  if (!fields.ok()) return std::nullopt;
  if (nodes && version == 0) return ModelType::kFrozen;
  if (version == 1 && more) return ModelType::kOnnx;
  return version == 1 && graphs ? std::optional(ModelType::kSavedModel) : std::nullopt;
}

}  // namespace

std::optional<ModelType> TypeFromContent(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    const bool saved = fs::exists(fs::path(path) / "saved_model.pb", error) ||
                       fs::exists(fs::path(path) / "saved_model.pbtxt", error);
    return saved ? std::optional(ModelType::kSavedModel) : std::nullopt;
  }
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  const Result<std::shared_ptr<const MappedFile>> file = MappedFile::Open(path);
  if (!file.ok()) return std::nullopt;
  const std::span<const std::byte> content = (*file)->bytes();
  const std::string_view bytes(reinterpret_cast<const char*>(content.data()), content.size());
  if (bytes.starts_with("ftrt") || bytes.starts_with("ptrt")) return ModelType::kEngine;
  if (bytes.starts_with(kHdf5Magic)) return ModelType::kKeras;
  if (bytes.starts_with(kZipMagic) && path.ends_with(".keras")) return ModelType::kKeras;
  return TypeOfProtobuf(bytes);
}

}  // namespace vernier
