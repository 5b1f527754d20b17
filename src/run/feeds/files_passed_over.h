// What a folder of images contains besides those that can be read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace vernier {

/// The endings that are read as images: .png, .jpg, .jpeg.
bool IsImageName(std::string_view name);

/// Files of folders that are not fed: images of other formats, hidden ones, and what is none.
class FilesPassedOver {
 public:
  /// What cannot be listed counts for nothing.
  void AddFolder(const std::string& folder);

  int64_t count() const { return count_; }
  /// How many seem to be images, which the user may miss.
  int64_t images() const { return images_; }
  /// One of those; empty without any.
  const std::string& example() const { return example_; }
  /// "2 '.webp', 1 without an ending, 1 hidden '.png'".
  std::string ByEnding() const;

 private:
  int64_t count_ = 0;
  int64_t images_ = 0;
  std::string example_;
  std::map<std::string, int64_t> endings_;  // in words
};

}  // namespace vernier
