#include "io/bytes/record_spill.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

namespace vernier {
namespace {

constexpr size_t kSpillBlock = size_t{64} << 10;
constexpr size_t kLength = sizeof(uint32_t);

// Passes on the whole records at the beginning of `text` and leaves what is behind them.
Status UseWhole(std::string& text, const std::function<Status(std::string_view)>& use) {
  const std::string_view view = text;
  size_t position = 0;
  while (view.size() - position >= kLength) {
    uint32_t length = 0;
    std::memcpy(&length, view.data() + position, kLength);
    if (view.size() - position - kLength < length) break;
    VERNIER_TRY(use(view.substr(position + kLength, length)));
    position += kLength + length;
  }
  text.erase(0, position);
  return {};
}

}  // namespace

void RecordSpill::Append(std::string_view record) {
  const auto length = static_cast<uint32_t>(record.size());
  buffer_.append(reinterpret_cast<const char*>(&length), kLength);
  buffer_ += record;
  mark_ = {mark_.records + 1, mark_.bytes + kLength + record.size()};
  if (buffer_.size() >= kSpillBlock && !no_file_) MoveToDisk();
}

void RecordSpill::MoveToDisk() {
  if (!file_) {
    Result<PartFile> file = PartFile::CreateUnnamed(directory_);
    if (file.ok()) file_ = *std::move(file);
  }
  no_file_ = !file_ || !file_->Write(std::as_bytes(std::span(buffer_))).ok();
  if (no_file_) return;  // what was written in part lies behind on_disk_
  on_disk_ += buffer_.size();
  buffer_.clear();
}

Status RecordSpill::Truncate(const Mark& mark) {
  if (mark.bytes < on_disk_) {
    VERNIER_TRY(file_->Truncate(mark.bytes));
    on_disk_ = mark.bytes;
  }
  buffer_.resize(static_cast<size_t>(mark.bytes - on_disk_));
  mark_ = mark;
  return {};
}

Status RecordSpill::ForEach(const std::function<Status(std::string_view)>& use) const {
  std::string text;
  for (uint64_t position = 0; position < on_disk_;) {
    const size_t before = text.size();
    const auto step = static_cast<size_t>(std::min<uint64_t>(kSpillBlock, on_disk_ - position));
    text.resize(before + step);
    VERNIER_TRY(file_->ReadAt(position, std::as_writable_bytes(std::span(text).subspan(before))));
    position += step;
    VERNIER_TRY(UseWhole(text, use));
  }
  text += buffer_;
  return UseWhole(text, use);
}

}  // namespace vernier
