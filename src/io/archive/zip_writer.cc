#include "io/archive/zip_writer.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "io/archive/npy.h"
#include "io/archive/zip_format.h"

namespace vernier {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr size_t kFlushAt = size_t{64} << 10;
constexpr uint64_t kCrcPosition = 14;
constexpr size_t kZip64Size = 20;
constexpr size_t kPaddingHeader = 6;
constexpr uint16_t kFirstOfJanuary1980 =
    0x21;  // the earliest date there is: output is reproducible

class Record {
 public:
  template <typename T>
  Record& Put(T value) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    text_.append(bytes, sizeof(T));
    return *this;
  }
  Record& Text(std::string_view text) {
    text_ += text;
    return *this;
  }
  std::string_view text() const { return text_; }

 private:
  std::string text_;
};

class CrcSink final : public ByteSink {
 public:
  explicit CrcSink(ByteSink& target) : target_(target) {}
  Status Write(std::span<const std::byte> bytes) override {
    if (bytes.empty()) return {};  // without an address, zlib would start over
    crc_ = ::crc32_z(crc_, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    size_ += bytes.size();
    return target_.Write(bytes);
  }
  uint32_t crc() const { return static_cast<uint32_t>(crc_); }
  uint64_t size() const { return size_; }

 private:
  ByteSink& target_;
  uLong crc_ = ::crc32_z(0, nullptr, 0);
  uint64_t size_ = 0;
};

uint16_t FlagsFor(std::string_view name) {
  const bool ascii = std::all_of(name.begin(), name.end(), [](char c) { return (c & 0x80) == 0; });
  return ascii ? uint16_t{0} : zip::kUtf8Flag;
}

Status CheckName(const std::string& name) {
  if (name.size() <= zip::kMax16) return {};
  return IoError("the name '" + name.substr(0, 60) + "...' has " + std::to_string(name.size()) +
                 " bytes; an npz file allows 65535");
}

Status TooMuch(std::string_view what) {
  return IoError("an npz file of so many tensors cannot be read back, because " +
                 std::string(what) +
                 " would have more than 1 GiB: save fewer iterations, or JSON or a folder");
}

// Both sizes are in the ZIP64 field whether they need it or not: they are known only afterwards.
Status WriteLocalHeader(OutputFile& file, const std::string& name) {
  const uint64_t fixed = zip::kLocalSize + name.size() + kZip64Size + kPaddingHeader;
  const uint64_t padding = (kAlignment - (file.size() + fixed) % kAlignment) % kAlignment;
  Record header;
  header.Put(zip::kLocalSignature).Put(zip::kVersion).Put(FlagsFor(name)).Put(zip::kStored);
  header.Put(uint16_t{0}).Put(kFirstOfJanuary1980);
  header.Put(uint32_t{0}).Put(zip::kMax32).Put(zip::kMax32);
  header.Put(static_cast<uint16_t>(name.size()));
  header.Put(static_cast<uint16_t>(kZip64Size + kPaddingHeader + padding)).Text(name);
  header.Put(zip::kPaddingField).Put(static_cast<uint16_t>(2 + padding));
  header.Put(static_cast<uint16_t>(kAlignment)).Text(std::string(padding, '\0'));
  header.Put(zip::kZip64Field).Put(uint16_t{16}).Put(uint64_t{0}).Put(uint64_t{0});
  return file.WriteText(header.text());
}

// The sizes are the last 16 bytes before the data.
Result<ZipEntry> FinishEntry(OutputFile& file, ZipEntry entry, const CrcSink& data) {
  entry.crc = data.crc();
  entry.size = data.size();
  entry.end = file.size();
  VERNIER_TRY(
      file.WriteAt(entry.offset + kCrcPosition, std::as_bytes(std::span(&entry.crc, size_t{1}))));
  const uint64_t sizes[] = {entry.size, entry.size};
  VERNIER_TRY(
      file.WriteAt(entry.end - entry.size - sizeof(sizes), std::as_bytes(std::span(sizes))));
  return entry;
}

void PutDirectoryEntry(Record& record, const ZipEntry& entry) {
  Record extra;
  const auto narrow = [&extra](uint64_t value) {
    if (value < zip::kMax32) return static_cast<uint32_t>(value);
    extra.Put(value);
    return zip::kMax32;
  };
  const uint32_t size = narrow(entry.size);
  const uint32_t packed_size = narrow(entry.size);
  const uint32_t offset = narrow(entry.offset);
  const size_t extra_size = extra.text().empty() ? 0 : extra.text().size() + 4;
  record.Put(zip::kEntrySignature).Put(zip::kVersion).Put(zip::kVersion);
  record.Put(FlagsFor(entry.name)).Put(zip::kStored).Put(uint16_t{0}).Put(kFirstOfJanuary1980);
  record.Put(entry.crc).Put(packed_size).Put(size);
  record.Put(static_cast<uint16_t>(entry.name.size())).Put(static_cast<uint16_t>(extra_size));
  record.Put(uint16_t{0}).Put(uint16_t{0}).Put(uint16_t{0}).Put(uint32_t{0}).Put(offset);
  record.Text(entry.name);
  if (extra_size == 0) return;
  record.Put(zip::kZip64Field).Put(static_cast<uint16_t>(extra_size - 4)).Text(extra.text());
}

}  // namespace

Result<ZipEntry> AppendZipTensor(OutputFile& file, std::string name, const Tensor& tensor) {
  VERNIER_TRY(CheckName(name));
  ZipEntry entry{.name = std::move(name), .offset = file.size()};
  VERNIER_TRY(WriteLocalHeader(file, entry.name));
  CrcSink data(file);
  VERNIER_TRY(WriteNpy(tensor, data));
  return FinishEntry(file, std::move(entry), data);
}

Result<ZipEntry> AppendZipMember(OutputFile& file, std::string name,
                                 const std::function<Status(ByteSink&)>& write) {
  VERNIER_TRY(CheckName(name));
  ZipEntry entry{.name = std::move(name), .offset = file.size()};
  VERNIER_TRY(WriteLocalHeader(file, entry.name));
  CrcSink data(file);
  VERNIER_TRY(write(data));
  if (data.size() > zip::kMostText) return TooMuch("the description of its iterations and types");
  return FinishEntry(file, std::move(entry), data);
}

Status ZipDirectoryWriter::Flush() {
  VERNIER_TRY(file_.WriteText(buffer_));
  buffer_.clear();
  return {};
}

Status ZipDirectoryWriter::Add(const ZipEntry& entry) {
  Record record;
  PutDirectoryEntry(record, entry);
  buffer_ += record.text();
  ++count_;
  return buffer_.size() < kFlushAt ? Status() : Flush();
}

Status ZipDirectoryWriter::Finish() {
  VERNIER_TRY(Flush());
  const uint64_t end = file_.size();
  const uint64_t size = end - offset_;
  if (size > zip::kMostText) return TooMuch("its directory");
  Record record;
  if (count_ >= zip::kMax16 || size >= zip::kMax32 || offset_ >= zip::kMax32) {
    record.Put(zip::kEnd64Signature).Put(uint64_t{zip::kEnd64Size - 12});
    record.Put(zip::kVersion).Put(zip::kVersion).Put(uint32_t{0}).Put(uint32_t{0});
    record.Put(count_).Put(count_).Put(size).Put(offset_);
    record.Put(zip::kLocator64Signature).Put(uint32_t{0}).Put(end).Put(uint32_t{1});
  }
  const auto count16 = static_cast<uint16_t>(std::min<uint64_t>(count_, zip::kMax16));
  record.Put(zip::kEndSignature).Put(uint16_t{0}).Put(uint16_t{0}).Put(count16).Put(count16);
  record.Put(static_cast<uint32_t>(std::min<uint64_t>(size, zip::kMax32)));
  record.Put(static_cast<uint32_t>(std::min<uint64_t>(offset_, zip::kMax32))).Put(uint16_t{0});
  return file_.WriteText(record.text());
}

}  // namespace vernier
