#include "io/results/feed_counts.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>
#include <system_error>

#include "io/bytes/checksum.h"
#include "util/files/atomic_file.h"
#include "util/text/number_text.h"
#include "util/text/split_text.h"

namespace vernier {
namespace {

constexpr std::string_view kFirstLine = "vernier feed counts 1";
// Times of files are no finer than some milliseconds, and of network file systems than seconds.
constexpr int64_t kSettledSeconds = 3;

void AddText(std::string_view text, Checksum& checksum) {
  checksum.Add(std::as_bytes(std::span(text)));
}

// The file for a list of files; empty where the current folder is gone.
std::string PlaceOfCounts(const std::string& folder, const std::vector<std::string>& files) {
  std::error_code failed;
  const std::string here = std::filesystem::current_path(failed).string();
  if (folder.empty() || failed) return "";
  Checksum checksum;
  AddText(here + "\n", checksum);
  for (const std::string& file : files) AddText(file + "\n", checksum);
  return folder + "/feeds-" + ChecksumText(checksum.value()) + ".txt";
}

std::string ChecksumLine(std::string_view text) {
  Checksum checksum;
  AddText(text, checksum);
  return ChecksumText(checksum.value()) + "\n";
}

}  // namespace

FilesMark MarkFiles(const std::vector<std::string>& files) {
  int64_t changed = 0;  // when the last of them was, in seconds
  const int64_t now = std::time(nullptr);
  Checksum checksum;
  for (const std::string& file : files) {
    struct stat entry = {};
    if (::stat(file.c_str(), &entry) != 0) return {};
    for (const int64_t number :
         {static_cast<int64_t>(entry.st_dev), static_cast<int64_t>(entry.st_ino),
          static_cast<int64_t>(entry.st_size), int64_t{entry.st_mtim.tv_sec},
          int64_t{entry.st_mtim.tv_nsec}, int64_t{entry.st_ctim.tv_sec},
          int64_t{entry.st_ctim.tv_nsec}}) {
      AddText(std::to_string(number) + " ", checksum);
    }
    changed = std::max<int64_t>({changed, entry.st_mtim.tv_sec, entry.st_ctim.tv_sec});
  }
  return {ChecksumText(checksum.value()), changed + kSettledSeconds < now};
}

std::optional<std::vector<size_t>> KnownFeedCounts(const std::string& folder,
                                                   const std::vector<std::string>& files,
                                                   const FilesMark& mark) {
  if (mark.text.empty()) return std::nullopt;
  std::ifstream kept(PlaceOfCounts(folder, files), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(kept), std::istreambuf_iterator<char>()};
  if (!kept || text.size() < 2) return std::nullopt;
  const size_t last = text.rfind('\n', text.size() - 2) + 1;
  const std::string_view body = std::string_view(text).substr(0, last);
  if (body.empty() || text.substr(last) != ChecksumLine(body)) return std::nullopt;
  const auto lines = SplitAt(body, '\n');
  const bool fits =
      lines.size() == files.size() + 2 && lines[0] == kFirstLine && lines[1] == mark.text;
  if (!fits) return std::nullopt;
  std::vector<size_t> counts;
  for (size_t i = 0; i < files.size(); ++i) {
    const std::optional<int64_t> count = ParseInt(lines[i + 2]);
    if (!count || *count < 0) return std::nullopt;
    counts.push_back(static_cast<size_t>(*count));
  }
  return counts;
}

void KeepFeedCounts(const std::string& folder, const std::vector<std::string>& files,
                    const FilesMark& mark, const std::vector<size_t>& counts) {
  const std::string place = PlaceOfCounts(folder, files);
  if (place.empty() || mark.text.empty() || !mark.settled) return;
  std::string text = std::string(kFirstLine) + "\n" + mark.text + "\n";
  for (const size_t count : counts) text += std::to_string(count) + "\n";
  text += ChecksumLine(text);
  if (!CreateDirectories(folder).ok()) return;
  (void)WriteFileAtomically(place, text);  // without it files are opened once more
}

}  // namespace vernier
