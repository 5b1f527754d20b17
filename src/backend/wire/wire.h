// Values to bytes and back for messages between the parent and its workers. Both ends are the same
// machine, so numbers are in native order. A reader never trusts a length: whatever does not fit
// makes it fail, and everything read after that is zero or empty.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vernier {

class MessageWriter {
 public:
  template <typename T>
  void Number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof(value));
  }
  void Text(std::string_view text) {
    Number<uint64_t>(text.size());
    const auto* first = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), first, first + text.size());
  }
  void Append(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  std::span<const std::byte> bytes() const { return bytes_; }
  size_t size() const { return bytes_.size(); }

 private:
  std::vector<std::byte> bytes_;
};

class MessageReader {
 public:
  explicit MessageReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <typename T>
  T Number() {
    static_assert(std::is_arithmetic_v<T>);
    T value{};
    const std::span<const std::byte> raw = Raw(sizeof(T));
    if (!raw.empty()) std::memcpy(&value, raw.data(), sizeof(T));
    return value;
  }
  std::string Text() {
    const std::span<const std::byte> raw = Raw(Number<uint64_t>());
    return {reinterpret_cast<const char*>(raw.data()), raw.size()};
  }
  std::span<const std::byte> Raw(uint64_t size) {
    if (failed_ || size > rest_.size()) {
      failed_ = true;
      return {};
    }
    const std::span<const std::byte> raw = rest_.first(static_cast<size_t>(size));
    rest_ = rest_.subspan(static_cast<size_t>(size));
    return raw;
  }

  /// A count of items that take at least `item_size` bytes each: never more than can be there.
  size_t Count(size_t item_size) {
    const auto count = Number<uint64_t>();
    if (count > rest_.size() / item_size) failed_ = true;
    return failed_ ? 0 : static_cast<size_t>(count);
  }

  /// What was read makes no sense.
  void Fail() { failed_ = true; }

  /// What was not read yet.
  std::span<const std::byte> rest() const { return failed_ ? std::span<const std::byte>() : rest_; }

  bool failed() const { return failed_; }
  bool finished() const { return !failed_ && rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
  bool failed_ = false;
};

}  // namespace vernier
