#include "io/json/json_text.h"

#include <algorithm>
#include <cstring>

namespace vernier {
namespace {

// Where the text is read from front to back, and where something was skipped.
constexpr size_t kSequentialBlock = size_t{256} << 10;
constexpr size_t kFirstBlock = size_t{4} << 10;

}  // namespace

JsonText JsonText::Range(uint64_t begin, uint64_t end) const {
  if (file_ != nullptr) return JsonText(file_, file_begin_ + begin, file_begin_ + end);
  return JsonText(memory_.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
}

JsonText JsonText::Part(uint64_t begin, uint64_t end) const {
  JsonText part = *this;
  part.start_ = begin;
  part.size_ = end;
  part.window_.clear();
  part.begin_ = 0;
  return part;
}

Result<std::string_view> JsonText::Window(uint64_t offset, size_t wanted) {
  if (file_ == nullptr) return memory_;
  wanted = static_cast<size_t>(std::min<uint64_t>(wanted, size_ - std::min(size_, offset)));
  const uint64_t end = begin_ + window_.size();
  if (offset >= begin_ && offset <= end && end - offset >= wanted) return std::string_view(window_);
  const bool follows = offset >= begin_ && offset <= end && end > 0;
  const size_t block = std::max(wanted, follows ? kSequentialBlock : kFirstBlock);
  const auto size = static_cast<size_t>(std::min<uint64_t>(block, size_ - offset));
  window_.resize(size);
  begin_ = offset;
  const Status status =
      file_->ReadAt(file_begin_ + offset, std::as_writable_bytes(std::span(window_.data(), size)));
  if (!status.ok()) {
    window_.clear();
    return status;
  }
  return std::string_view(window_);
}

Status JsonText::ReadAt(uint64_t offset, std::span<char> out) const {
  if (file_ != nullptr) return file_->ReadAt(file_begin_ + offset, std::as_writable_bytes(out));
  if (!out.empty()) std::memcpy(out.data(), memory_.data() + offset, out.size());
  return {};
}

}  // namespace vernier
