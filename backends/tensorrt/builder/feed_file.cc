#include "tensorrt/builder/feed_file.h"

#include <cstring>
#include <utility>

#include "tensorrt/builder/engine_files.h"
#include "vernier/backend_dtype.h"

namespace vernier::trt {
namespace {

constexpr std::string_view kMagic = "VNFEEDS1";

// Numbers are 64 bits wide and everything begins at a multiple of 8.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  bool done() const { return rest_.empty(); }
  bool ok() const { return ok_; }
  void Fail() { ok_ = false; }

  uint64_t Number() {
    uint64_t value = 0;
    const std::string_view bytes = Bytes(sizeof(value));
    if (ok_) std::memcpy(&value, bytes.data(), sizeof(value));
    return value;
  }
  std::string_view Bytes(uint64_t size) {
    const uint64_t padded = size + (8 - size % 8) % 8;
    if (!ok_ || padded < size || padded > rest_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view bytes = rest_.substr(0, static_cast<size_t>(size));
    rest_.remove_prefix(static_cast<size_t>(padded));
    return bytes;
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

FeedTensor ReadTensor(Reader& reader) {
  FeedTensor tensor;
  tensor.name = reader.Bytes(reader.Number());
  const auto code = static_cast<uint8_t>(reader.Number());
  const auto bits = static_cast<uint8_t>(reader.Number());
  tensor.dtype = FromAbi(code, bits).value_or(DType::kUndefined);
  const uint64_t rank = reader.Number();
  if (rank > 64 || tensor.dtype == DType::kUndefined) reader.Fail();
  for (uint64_t i = 0; reader.ok() && i < rank; ++i) {
    tensor.shape.push_back(static_cast<int64_t>(reader.Number()));
  }
  const std::string_view bytes = reader.Bytes(reader.Number());
  tensor.bytes = std::as_bytes(std::span(bytes.data(), bytes.size()));
  return tensor;
}

}  // namespace

Result<FeedFile> FeedFile::Read(const std::string& path) {
  FeedFile file;
  VERNIER_ASSIGN_OR_RETURN(std::string bytes, ReadWhole(path));
  file.bytes_ = std::make_shared<const std::string>(std::move(bytes));
  Reader reader(*file.bytes_);
  if (reader.Bytes(kMagic.size()) != kMagic) reader.Fail();
  while (reader.ok() && !reader.done()) {
    std::vector<FeedTensor> feed;
    const uint64_t count = reader.Number();
    for (uint64_t i = 0; reader.ok() && i < count; ++i) feed.push_back(ReadTensor(reader));
    file.feeds_.push_back(std::move(feed));
  }
  if (!reader.ok()) return Malformed("'" + path + "' holds no feeds");
  return file;
}

}  // namespace vernier::trt
