#include "io/archive/zip_content.h"

#include <zlib.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace vernier {
namespace {

constexpr size_t kPackedBlock = size_t{128} << 10;

// The inflated bytes of a raw deflate stream.
class InflateSource final : public ByteSource {
 public:
  InflateSource(const ZipMember& member, std::unique_ptr<ByteSource> packed)
      : name_(member.name), packed_(std::move(packed)), remaining_(member.size) {}
  ~InflateSource() override { ::inflateEnd(&stream_); }

  Status Start() {
    const bool started = ::inflateInit2(&stream_, -MAX_WBITS) == Z_OK;
    return started ? Status() : Internal("zlib cannot be initialised");
  }

  uint64_t remaining() const override { return remaining_; }

  Status Read(std::span<std::byte> out) override {
    while (!out.empty()) {
      const auto step = std::min<size_t>(out.size(), size_t{1} << 30);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data());
      stream_.avail_out = static_cast<uInt>(step);
      VERNIER_TRY(Step());
      const size_t made = step - stream_.avail_out;
      if (ended_ && made < out.size()) return WrongSize();
      out = out.subspan(made);
      remaining_ -= made;
    }
    return {};
  }

  // Nothing is left on either side.
  Status Finish() {
    Bytef beyond = 0;
    stream_.next_out = &beyond;
    stream_.avail_out = 1;
    while (!ended_ && stream_.avail_out == 1) VERNIER_TRY(Step());
    const bool all = ended_ && stream_.avail_out == 1 && stream_.avail_in == 0;
    return all && packed_->remaining() == 0 ? Status() : WrongSize();
  }

 private:
  Status WrongSize() const {
    return DamagedMember(name_, "it does not inflate to its declared size");
  }

  Status Step() {
    if (ended_) return WrongSize();
    if (stream_.avail_in == 0) {
      block_.resize(static_cast<size_t>(std::min<uint64_t>(kPackedBlock, packed_->remaining())));
      if (block_.empty()) return WrongSize();
      VERNIER_TRY(packed_->Read(block_));
      stream_.next_in = reinterpret_cast<Bytef*>(block_.data());
      stream_.avail_in = static_cast<uInt>(block_.size());
    }
    const int code = ::inflate(&stream_, Z_NO_FLUSH);
    ended_ = code == Z_STREAM_END;
    // Z_BUF_ERROR: more of the packed bytes are needed.
    return code == Z_OK || code == Z_BUF_ERROR || ended_ ? Status() : WrongSize();
  }

  std::string name_;
  std::unique_ptr<ByteSource> packed_;
  uint64_t remaining_;
  std::vector<std::byte> block_;
  z_stream stream_{};
  bool ended_ = false;
};

template <typename Source>
class CheckedContent final : public ZipContent {
 public:
  CheckedContent(const ZipMember& member, std::unique_ptr<Source> source)
      : name_(member.name), crc_(member.crc), source_(std::move(source)), checksum_(*source_) {}

  uint64_t remaining() const override { return checksum_.remaining(); }
  Status Read(std::span<std::byte> out) override { return checksum_.Read(out); }

  Status Finish() override {
    VERNIER_ASSIGN_OR_RETURN(const uint32_t crc, checksum_.Finish());
    if constexpr (requires { source_->Finish(); }) VERNIER_TRY(source_->Finish());
    return crc == crc_ ? Status() : DamagedMember(name_, "its checksum differs");
  }

 private:
  std::string name_;
  uint32_t crc_;
  std::unique_ptr<Source> source_;
  ChecksumSource checksum_;
};

}  // namespace

Status DamagedMember(const std::string& name, std::string_view what) {
  return Malformed("member '" + name + "' of the archive is damaged: " + std::string(what));
}

Result<std::unique_ptr<ZipContent>> OpenZipContent(const ZipMember& member,
                                                   std::unique_ptr<ByteSource> packed) {
  if (!member.deflated) {
    return std::unique_ptr<ZipContent>(
        std::make_unique<CheckedContent<ByteSource>>(member, std::move(packed)));
  }
  auto inflated = std::make_unique<InflateSource>(member, std::move(packed));
  VERNIER_TRY(inflated->Start());
  return std::unique_ptr<ZipContent>(
      std::make_unique<CheckedContent<InflateSource>>(member, std::move(inflated)));
}

}  // namespace vernier
