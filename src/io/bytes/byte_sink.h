// Where encoders put their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "util/files/atomic_file.h"
#include "vernier/status.h"

namespace vernier {

/// Takes bytes in order. Errors are the destination's (kIo for files).
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual Status Write(std::span<const std::byte> bytes) = 0;

  Status WriteText(std::string_view text) {
    return Write(std::as_bytes(std::span(text.data(), text.size())));
  }
};

/// A file that is being written: a sink whose earlier bytes can be patched.
class OutputFile : public ByteSink {
 public:
  /// Overwrites earlier bytes; the position of the next Write stays at the end.
  virtual Status WriteAt(uint64_t offset, std::span<const std::byte> bytes) = 0;

  /// Appends bytes of the file that is open as `fd`.
  virtual Status CopyFrom(int fd, uint64_t offset, uint64_t size) = 0;
  virtual uint64_t size() const = 0;
};

/// Collects into a string.
class StringSink final : public ByteSink {
 public:
  Status Write(std::span<const std::byte> bytes) override {
    text_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Writes to an AtomicFile, which must outlive it.
class AtomicFileSink final : public OutputFile {
 public:
  explicit AtomicFileSink(AtomicFile& file) : file_(file) {}
  Status Write(std::span<const std::byte> bytes) override { return file_.Write(bytes); }
  Status WriteAt(uint64_t offset, std::span<const std::byte> bytes) override {
    return file_.WriteAt(offset, bytes);
  }
  Status CopyFrom(int fd, uint64_t offset, uint64_t size) override {
    return file_.CopyFrom(fd, offset, size);
  }
  uint64_t size() const override { return file_.size(); }

 private:
  AtomicFile& file_;
};

}  // namespace vernier
