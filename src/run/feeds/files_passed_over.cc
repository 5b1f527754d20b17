#include "run/feeds/files_passed_over.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <vector>

#include "util/text/number_text.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

std::string EndingOf(std::string_view name) { return ToLower(fs::path(name).extension().string()); }

// Formats that cannot be read, by their usual endings.
bool SeemsImage(std::string_view name) {
  constexpr std::array<std::string_view, 18> kEndings = {
      ".webp", ".bmp",  ".gif",  ".tif", ".tiff", ".jfif", ".jpe", ".jp2", ".jxl",
      ".avif", ".heic", ".heif", ".ppm", ".pgm",  ".tga",  ".ico", ".dng", ".svg"};
  return std::ranges::find(kEndings, EndingOf(name)) != kEndings.end();
}

}  // namespace

bool IsImageName(std::string_view name) {
  const std::string ending = EndingOf(name);
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

// Of hidden files the images alone: ".DS_Store" and "._a.jpg", which belongs to "a.jpg", are none.
void FilesPassedOver::AddFolder(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_regular_file(ignored)) names.push_back(it->path().filename().string());
  }
  std::ranges::sort(names);
  for (const std::string& name : names) {
    const bool hidden = name.starts_with('.');
    if (hidden ? !IsImageName(name) || name.starts_with("._") : IsImageName(name)) continue;
    const std::string ending = EndingOf(name);
    ++endings_[(hidden ? "hidden " : "") +
               (ending.empty() ? "without an ending" : QuotePython(ending))];
    ++count_;
    if (!hidden && !SeemsImage(name)) continue;
    ++images_;
    if (example_.empty()) example_ = (fs::path(folder) / name).string();
  }
}

std::string FilesPassedOver::ByEnding() const {
  std::string text;
  for (const auto& [ending, count] : endings_) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + ending;
  }
  return text;
}

}  // namespace vernier
