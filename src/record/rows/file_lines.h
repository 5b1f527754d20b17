// The lines of a long file, read in large pieces. Only for this folder.
#pragma once

#include <cstddef>
#include <istream>
#include <optional>
#include <string>
#include <string_view>

namespace vernier {

class FileLines {
 public:
  explicit FileLines(std::istream& file) : file_(file) {}

  /// The next line without its end, as std::getline() has it; valid until the next call. nullopt
  /// after the last, and where the file cannot be read, which `file.bad()` distinguishes.
  std::optional<std::string_view> Next() {
    size_t end = bytes_.find('\n', begin_);
    while (end == std::string::npos && file_.good()) {
      const size_t looked_at = bytes_.size() - begin_;
      ReadMore();
      end = bytes_.find('\n', begin_ + looked_at);
    }
    if (end == std::string::npos && begin_ == bytes_.size()) return std::nullopt;
    const size_t stop = end == std::string::npos ? bytes_.size() : end;
    const std::string_view line = std::string_view(bytes_).substr(begin_, stop - begin_);
    begin_ = end == std::string::npos ? bytes_.size() : end + 1;
    return line;
  }

 private:
  static constexpr size_t kPiece = size_t{1} << 20U;

  void ReadMore() {
    bytes_.erase(0, begin_);
    begin_ = 0;
    const size_t before = bytes_.size();
    bytes_.resize(before + kPiece);
    file_.read(bytes_.data() + before, static_cast<std::streamsize>(kPiece));
    bytes_.resize(before + static_cast<size_t>(file_.gcount()));
  }

  std::istream& file_;
  std::string bytes_;
  size_t begin_ = 0;  // of the next line
};

}  // namespace vernier
