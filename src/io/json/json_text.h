// The text of a JSON document: in memory, or a file that is read through a small window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "util/files/input_file.h"
#include "vernier/status.h"

namespace vernier {

class JsonText {
 public:
  /// `text` must outlive the object and all copies.
  explicit JsonText(std::string_view text) : memory_(text), size_(text.size()) {}
  explicit JsonText(std::shared_ptr<const InputFile> file)
      : file_(std::move(file)), size_(file_->size()) {}

  /// A range of a file, which must lie inside; offsets are from its beginning.
  JsonText(std::shared_ptr<const InputFile> file, uint64_t begin, uint64_t end)
      : file_(std::move(file)), size_(end - begin), file_begin_(begin) {}

  /// Some of it, which must lie inside.
  JsonText Range(uint64_t begin, uint64_t end) const;

  /// The same text from `begin` up to `end`: offsets stay those of all of it.
  JsonText Part(uint64_t begin, uint64_t end) const;

  /// Where a reader begins, and where it ends.
  uint64_t start() const { return start_; }
  uint64_t size() const { return size_; }
  bool in_memory() const { return file_ == nullptr; }

  /// All of a text in memory.
  std::string_view memory() const { return memory_; }

  /// Text that contains at least the `wanted` characters from `offset` on, or all up to the end
  /// where there are fewer, and begins at window_begin(). Valid until the next call. kMalformed
  /// when the file cannot be read.
  Result<std::string_view> Window(uint64_t offset, size_t wanted);
  uint64_t window_begin() const { return begin_; }

  /// Copies the characters from `offset` on, which must be there. Thread-safe. kMalformed when the
  /// file cannot be read.
  Status ReadAt(uint64_t offset, std::span<char> out) const;

 private:
  std::shared_ptr<const InputFile> file_;
  std::string_view memory_;
  uint64_t start_ = 0;
  uint64_t size_;
  uint64_t file_begin_ = 0;
  uint64_t begin_ = 0;
  std::string window_;
};

}  // namespace vernier
