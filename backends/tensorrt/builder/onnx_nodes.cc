#include "tensorrt/builder/onnx_nodes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <string_view>

namespace vernier::trt {
namespace {

using Bytes = std::span<const std::byte>;

// onnx.proto's numbers of the fields that are looked at.
constexpr uint64_t kModelGraph = 7;
constexpr uint64_t kGraphNode = 1;
constexpr uint64_t kNodeOutput = 2;
constexpr uint64_t kNodeName = 3;
constexpr uint64_t kNodeOperator = 4;

// The fields of a protobuf message that have a length; others are passed over.
class Fields {
 public:
  explicit Fields(Bytes bytes) : rest_(bytes) {}

  // False at the end, and where the bytes are no message.
  bool Next() {
    while (!rest_.empty()) {
      const std::optional<uint64_t> key = Varint();
      if (!key) return false;
      number_ = *key >> 3;
      switch (*key & 7) {
        case 0:
          if (!Varint()) return false;
          break;
        case 1:
          if (!Take(8)) return false;
          break;
        case 2: {
          const std::optional<uint64_t> size = Varint();
          return size && Take(*size);
        }
        case 5:
          if (!Take(4)) return false;
          break;
        default:
          return false;
      }
    }
    return false;
  }

  uint64_t number() const { return number_; }
  Bytes content() const { return content_; }
  std::string text() const {
    return {reinterpret_cast<const char*>(content_.data()), content_.size()};
  }

 private:
  std::optional<uint64_t> Varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<uint64_t>(rest_.front());
      rest_ = rest_.subspan(1);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  bool Take(uint64_t size) {
    if (size > rest_.size()) return false;
    content_ = rest_.first(static_cast<size_t>(size));
    rest_ = rest_.subspan(static_cast<size_t>(size));
    return true;
  }

  Bytes rest_;
  Bytes content_;
  uint64_t number_ = 0;
};

OnnxNode ReadNode(Bytes bytes) {
  OnnxNode node;
  for (Fields fields(bytes); fields.Next();) {
    if (fields.number() == kNodeName) node.name = fields.text();
    if (fields.number() == kNodeOperator) node.op_type = fields.text();
    if (fields.number() == kNodeOutput && node.output.empty()) node.output = fields.text();
  }
  return node;
}

}  // namespace

std::optional<OnnxNode> FindNode(Bytes model, size_t index) {
  for (Fields fields(model); fields.Next();) {
    if (fields.number() != kModelGraph) continue;
    for (Fields graph(fields.content()); graph.Next();) {
      if (graph.number() == kGraphNode && index-- == 0) return ReadNode(graph.content());
    }
  }
  return std::nullopt;
}

std::optional<OnnxNode> FindNode(const vn_model& model, size_t index) {
  if (model.bytes != nullptr) {
    return FindNode(Bytes(static_cast<const std::byte*>(model.bytes), model.byte_count), index);
  }
  const std::string path(model.path.data, model.path.size);
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat facts {};
  if (file < 0 || ::fstat(file, &facts) != 0 || facts.st_size == 0) {
    if (file >= 0) ::close(file);
    return std::nullopt;
  }
  const auto size = static_cast<size_t>(facts.st_size);
  void* const memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) return std::nullopt;
  std::optional<OnnxNode> node =
      FindNode(Bytes(static_cast<const std::byte*>(memory), size), index);
  ::munmap(memory, size);
  return node;
}

std::string DescribeNode(const OnnxNode& node) {
  const std::string& name = node.name.empty() ? node.output : node.name;
  return (node.name.empty() ? "the node that makes '" : "node '") + name + "' (" +
         (node.op_type.empty() ? "no operator" : node.op_type) + ")";
}

}  // namespace vernier::trt
