#include "io/feed_reader.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "io/directory_listing.h"
#include "io/feed_sources.h"
#include "io/file_kind.h"

namespace vernier {
namespace {

constexpr std::string_view kTestDataSet = "test_data_set_";

// test_data_set_2 comes before test_data_set_10: shorter names first.
void SortByNumber(std::vector<std::string>& paths) {
  std::stable_sort(paths.begin(), paths.end(),
                   [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
}

// The files, or directories of ONNX test data, that a path stands for.
Result<std::vector<std::string>> Expand(const std::string& path) {
  if (!IsDirectory(path)) {
    std::error_code error;
    if (std::filesystem::exists(path, error)) return std::vector{path};
    return Malformed("'" + path + "' does not exist");
  }
  VERNIER_ASSIGN_OR_RETURN(std::vector<std::string> json, ListJsonFiles(path));
  if (!json.empty()) return json;
  VERNIER_ASSIGN_OR_RETURN(auto sets, ListDirectory(path, [](std::string_view name) {
                             return name.starts_with(kTestDataSet);
                           }));
  SortByNumber(sets);
  if (!sets.empty()) return sets;
  VERNIER_ASSIGN_OR_RETURN(const auto inputs, ListDirectory(path, IsTestInputName));
  if (!inputs.empty()) return std::vector{path};
  return Malformed("No per-iteration '*.json' files found in directory '" + path +
                   "', nor ONNX test data (input_0.pb, test_data_set_0)");
}

Result<std::unique_ptr<FeedReader::Source>> OpenSource(const std::string& path) {
  if (IsDirectory(path)) return OpenOnnxTestData(path);
  VERNIER_ASSIGN_OR_RETURN(const FileKind kind, DetectFileKind(path));
  switch (kind) {
    case FileKind::kNpz:
      return OpenArchiveFeeds(path, ArchiveFormat::kNpz);
    case FileKind::kSafetensors:
      return OpenArchiveFeeds(path, ArchiveFormat::kSafetensors);
    case FileKind::kNpy:
      return OpenNpyFeed(path);
    case FileKind::kProtobuf:
      return OpenProtobufFeed(path);
    case FileKind::kJson:
      break;
  }
  return OpenJsonFeeds(path);
}

}  // namespace

Result<std::unique_ptr<FeedReader>> FeedReader::Open(std::vector<std::string> paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> expanded, Expand(path));
    files.insert(files.end(), expanded.begin(), expanded.end());
  }
  std::unique_ptr<FeedReader> reader(new FeedReader(std::move(files)));
  if (!reader->files_.empty()) VERNIER_TRY(reader->OpenFile());
  return reader;
}

Status FeedReader::OpenFile() {
  source_ = nullptr;  // one file mapped at a time
  current_path_ = files_[file_];
  VERNIER_ASSIGN_OR_RETURN(source_, OpenSource(files_[file_]));
  ++file_;
  next_ = 0;
  return {};
}

Result<std::optional<TensorMap>> FeedReader::Next() {
  while (source_ == nullptr || next_ == source_->size()) {
    if (file_ == files_.size()) return std::optional<TensorMap>();
    VERNIER_TRY(OpenFile());
  }
  VERNIER_ASSIGN_OR_RETURN(TensorMap feed, source_->Read(next_));
  ++next_;
  return std::optional<TensorMap>(std::move(feed));
}

}  // namespace vernier
