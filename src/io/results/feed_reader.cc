#include "io/results/feed_reader.h"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <system_error>
#include <utility>

#include "io/bytes/directory_listing.h"
#include "io/results/feed_counts.h"
#include "io/results/feed_sources.h"
#include "util/files/paths.h"
#include "vernier/part_names.h"

namespace vernier {
namespace {

// The files, or directories of ONNX test data, that a path stands for.
Result<std::vector<std::string>> Expand(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(status)) return Malformed("'" + path + "' does not exist");
  if (!std::filesystem::is_directory(status)) return std::vector{path};
  VERNIER_ASSIGN_OR_RETURN(const std::vector<DirectoryEntry> entries, ReadDirectory(path));
  const auto is_json = [](std::string_view name) { return name.ends_with(".json"); };
  std::vector<std::string> json = PathsIn(path, entries, is_json);
  if (!json.empty()) return json;
  std::vector<std::string> sets = TestDataSetsIn(path, entries);
  if (!sets.empty()) return sets;
  if (!PathsIn(path, entries, IsTestData).empty()) return std::vector{path};
  VERNIER_ASSIGN_OR_RETURN(std::vector<std::string> saved, SavedFilesIn(path, entries));
  if (!saved.empty()) return saved;
  return Malformed("No per-iteration '*.json' files found in directory '" + path +
                   "', nor '*.npz' or '*.safetensors' files or ONNX test data (input_0.pb, "
                   "test_data_set_0)");
}

}  // namespace

Result<std::vector<std::string>> FeedReader::FilesOf(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& pattern : paths) {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> fitting, ExpandPattern(pattern));
    for (const std::string& path : fitting) {
      VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> expanded, Expand(path));
      files.insert(files.end(), expanded.begin(), expanded.end());
    }
  }
  return files;
}

Result<std::unique_ptr<FeedReader>> FeedReader::Open(std::vector<std::string> paths) {
  VERNIER_ASSIGN_OR_RETURN(std::vector<std::string> files, FilesOf(paths));
  std::unique_ptr<FeedReader> reader(new FeedReader(std::move(files)));
  if (!reader->files_.empty()) VERNIER_TRY(reader->OpenFile());
  return reader;
}

Status FeedReader::OpenFile() {
  source_ = nullptr;  // one file mapped at a time
  current_path_ = files_[file_];
  VERNIER_ASSIGN_OR_RETURN(source_, OpenFeedFile(files_[file_]));
  if (file_ < counts_.size() && counts_[file_] != source_->size()) {
    return Malformed("'" + current_path_ + "' holds " + std::to_string(source_->size()) +
                     " feeds, and had " + std::to_string(counts_[file_]) +
                     " when the files were counted: it was changed meanwhile");
  }
  ++file_;
  next_ = 0;
  return {};
}

bool FeedReader::HasMore() const {
  return file_ < files_.size() || (source_ != nullptr && next_ < source_->size());
}

std::optional<int64_t> FeedReader::Total() const {
  if (file_ < files_.size()) return std::nullopt;
  const size_t left = source_ == nullptr ? 0 : source_->size() - next_;
  return static_cast<int64_t>(given_ + left);
}

Result<std::optional<TensorMap>> FeedReader::Next() {
  while (source_ == nullptr || next_ == source_->size()) {
    if (file_ == files_.size()) return std::optional<TensorMap>();
    VERNIER_TRY(OpenFile());
  }
  VERNIER_ASSIGN_OR_RETURN(TensorMap feed, source_->Read(next_));
  ++next_;
  ++given_;
  return std::optional<TensorMap>(std::move(feed));
}

Status FeedReader::Skip(int64_t count) {
  for (auto left = static_cast<size_t>(count); left > 0;) {
    while (source_ == nullptr || next_ == source_->size()) {
      if (file_ == files_.size()) return {};
      if (file_ < counts_.size() && counts_[file_] <= left) {
        left -= counts_[file_];
        given_ += counts_[file_];
        ++file_;
        source_ = nullptr;
        if (left == 0) return {};
        continue;
      }
      VERNIER_TRY(OpenFile());
    }
    const size_t passed = std::min(left, source_->size() - next_);
    next_ += passed;
    given_ += passed;
    left -= passed;
  }
  return {};
}

Result<int64_t> FeedReader::CountAll() {
  if (const std::optional<int64_t> total = Total()) return *total;
  const bool many = files_.size() >= kFewestFilesToKeep;
  const std::string folder = UserCacheFolder();
  const FilesMark mark = many ? MarkFiles(files_) : FilesMark();
  std::optional<std::vector<size_t>> counts = KnownFeedCounts(folder, files_, mark);
  if (!counts) {
    counts.emplace();
    for (const std::string& file : files_) {
      VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<Source> source, OpenFeedFile(file));
      counts->push_back(source->size());
    }
    KeepFeedCounts(folder, files_, mark, *counts);
  }
  counts_ = *std::move(counts);
  return std::accumulate(counts_.begin(), counts_.end(), int64_t{0});
}

std::string NameByPosition(std::span<const std::string> names, TensorMap& tensors) {
  const bool in_parts = std::ranges::any_of(
      tensors, [](const NamedTensor& tensor) { return CountedBy(tensor.name) != 0; });
  if (in_parts || names.size() != tensors.size()) return "";
  std::string remark;
  const bool same_names = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return Find(tensors, name) != nullptr;
  });
  for (size_t i = 0; i < names.size(); ++i) {
    if (same_names && remark.empty() && tensors[i].name != names[i]) {
      remark = "ONNX test data are matched by position: file " + std::to_string(i) + " is '" +
               names[i] + "', though it is called '" + tensors[i].name + "' inside";
    }
    tensors[i].name = names[i];
  }
  return remark;
}

}  // namespace vernier
