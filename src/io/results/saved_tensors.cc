#include "io/results/saved_tensors.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/archive/archive_index.h"
#include "io/bytes/directory_listing.h"
#include "io/results/feed_sources.h"
#include "io/results/file_kind.h"
#include "io/results/interleaved_runs.h"
#include "io/results/results_archive.h"
#include "io/results/shard_file_name.h"
#include "util/files/input_file.h"

namespace vernier {
namespace {

using FeedSource = std::unique_ptr<FeedReader::Source>;

// Feeds as one run. Several files are chained, of which one is open at a time.
class FeedsAsRun final : public ResultsReader::Source {
 public:
  using Opener = Result<FeedSource> (*)(const std::string& path);

  FeedsAsRun(std::vector<std::string> files, Opener open) : files_(std::move(files)), open_(open) {}

  Status Index() {
    for (size_t file = 0; file < files_.size(); ++file) {
      VERNIER_TRY(Load(file));
      ends_.push_back((ends_.empty() ? 0 : ends_.back()) + current_->size());
    }
    runs_ = {{"", ends_.empty() ? 0 : ends_.back()}};
    return {};
  }

  const std::vector<SavedRun>& runs() const override { return runs_; }

  Result<IterationResult> Read(size_t, size_t iteration) override {
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), iteration);
    const auto file = static_cast<size_t>(end - ends_.begin());
    VERNIER_TRY(Load(file));
    IterationResult result;
    VERNIER_ASSIGN_OR_RETURN(result.outputs,
                             current_->Read(iteration - (file == 0 ? 0 : ends_[file - 1])));
    return result;
  }

 private:
  Status Load(size_t file) {
    if (current_ != nullptr && loaded_ == file) return {};
    current_ = nullptr;
    VERNIER_ASSIGN_OR_RETURN(current_, open_(files_[file]));
    loaded_ = file;
    if (file >= ends_.size()) return {};
    const size_t known = ends_[file] - (file == 0 ? 0 : ends_[file - 1]);
    if (current_->size() == known) return {};
    return Malformed("'" + files_[file] + "' was written to while it was read");
  }

  std::vector<std::string> files_;
  Opener open_;
  std::vector<size_t> ends_;  // iterations up to the end of each file
  std::vector<SavedRun> runs_;
  size_t loaded_ = 0;
  FeedSource current_;
};

Result<FeedSource> OpenTestOutputs(const std::string& directory) {
  return OpenOnnxTestData(directory, TestDataPart::kOutputs);
}

Result<FeedSource> OpenTestInputs(const std::string& directory) {
  return OpenOnnxTestData(directory, TestDataPart::kInputs);
}

Result<SavedTensors> MakeRun(std::vector<std::string> files, FeedsAsRun::Opener open,
                             SavedKind kind) {
  auto run = std::make_unique<FeedsAsRun>(std::move(files), open);
  VERNIER_TRY(run->Index());
  return SavedTensors{kind, ResultsReader::Of(std::move(run))};
}

// Feeds that take turns.
Result<SavedTensors> MakeRunByStride(const std::vector<std::string>& files, SavedKind kind) {
  const auto open = [kind](const std::string& file) -> Result<std::unique_ptr<ResultsReader>> {
    VERNIER_ASSIGN_OR_RETURN(SavedTensors shard, MakeRun({file}, OpenFeedFile, kind));
    return std::move(shard.reader);
  };
  VERNIER_ASSIGN_OR_RETURN(auto runs, InterleaveFiles(files, open));
  return SavedTensors{kind, ResultsReader::Of(std::move(runs))};
}

Result<SavedTensors> OpenResults(const std::string& path, ArchiveAccess access) {
  VERNIER_ASSIGN_OR_RETURN(auto reader, ResultsReader::Open(path, access));
  return SavedTensors{SavedKind::kOutputs, std::move(reader)};
}

Result<SavedTensors> OpenTestData(const std::string& path, SavedKind preferred) {
  VERNIER_ASSIGN_OR_RETURN(std::vector<std::string> sets, ListTestDataSets(path));
  if (sets.empty()) sets = {path};
  const bool has_inputs = HoldsTestData(sets.front(), TestDataPart::kInputs);
  const bool has_outputs = HoldsTestData(sets.front(), TestDataPart::kOutputs);
  if (!has_inputs && !has_outputs) {
    return Malformed("No per-iteration '*.json' files found in directory '" + path +
                     "', nor '*.npz' or '*.safetensors' files or ONNX test data (input_0.pb, "
                     "output_0.pb, test_data_set_0)");
  }
  const bool outputs = has_outputs && (preferred == SavedKind::kOutputs || !has_inputs);
  VERNIER_ASSIGN_OR_RETURN(SavedTensors saved,
                           MakeRun(std::move(sets), outputs ? OpenTestOutputs : OpenTestInputs,
                                   outputs ? SavedKind::kOutputs : SavedKind::kInputs));
  saved.positional = true;
  return saved;
}

// What a JSON file or an archive holds.
Result<SavedKind> KindOfFile(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const FileKind kind, DetectFileKind(path));
  if (kind == FileKind::kJson) return SniffJsonKind(path);
  if (kind != FileKind::kNpz && kind != FileKind::kSafetensors) return SavedKind::kInputs;
  const bool npz = kind == FileKind::kNpz;
  VERNIER_ASSIGN_OR_RETURN(
      const auto archive,
      TensorArchive::Open(path, npz ? ArchiveFormat::kNpz : ArchiveFormat::kSafetensors));
  VERNIER_ASSIGN_OR_RETURN(const ArchiveIndex index, IndexArchive(*archive));
  return index.is_results ? SavedKind::kOutputs : SavedKind::kInputs;
}

Result<SavedTensors> OpenDirectory(const std::string& path, SavedKind preferred,
                                   ArchiveAccess access) {
  VERNIER_ASSIGN_OR_RETURN(std::vector<std::string> files, ListJsonFiles(path));
  // Beside test data there may lie archives of the same.
  VERNIER_ASSIGN_OR_RETURN(const auto sets, ListTestDataSets(path));
  const bool tested = !sets.empty() || HoldsTestData(path, TestDataPart::kInputs) ||
                      HoldsTestData(path, TestDataPart::kOutputs);
  if (files.empty() && !tested) {
    VERNIER_ASSIGN_OR_RETURN(files, ListSavedFiles(path));
  }
  if (files.empty()) return OpenTestData(path, preferred);
  VERNIER_ASSIGN_OR_RETURN(const SavedKind kind, KindOfFile(files.front()));
  if (kind == SavedKind::kOutputs) return OpenResults(path, access);
  if (AreAllByStride(files)) return MakeRunByStride(files, kind);
  return MakeRun(std::move(files), OpenFeedFile, kind);
}

Result<SavedTensors> OpenArchive(const std::string& path, ArchiveFormat format,
                                 ArchiveAccess access) {
  VERNIER_ASSIGN_OR_RETURN(auto archive, TensorArchive::Open(path, format));
  VERNIER_ASSIGN_OR_RETURN(ArchiveIndex index, IndexArchive(*archive));
  const SavedKind kind = index.is_results ? SavedKind::kOutputs : SavedKind::kInputs;
  auto runs = MakeArchiveRuns(std::move(archive), std::move(index), access);
  return SavedTensors{kind, ResultsReader::Of(std::move(runs))};
}

// The beginning of a file without blanks, enough to see what it holds.
Result<std::string> JsonStart(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const auto file, InputFile::Open(path));
  constexpr uint64_t kEnough = 4096;
  std::string start(static_cast<size_t>(std::min(kEnough, file->size())), '\0');
  if (Status status = file->ReadAt(0, std::as_writable_bytes(std::span(start))); !status.ok()) {
    return std::move(status).Annotate("'" + path + "'");
  }
  std::erase_if(start, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
  return start;
}

}  // namespace

Result<SavedKind> SniffJsonKind(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const std::string text, JsonStart(path));
  // Polygraphy writes the list first; others may write the type first.
  for (const std::string_view start :
       {"{\"lst\":[", "{\"polygraphy_class\":\"", "{\"__polygraphy_encoded_"}) {
    if (text.starts_with(start)) return SavedKind::kOutputs;
  }
  return SavedKind::kInputs;
}

bool LooksLikeAccuracyResults(const std::string& path) {
  const Result<std::string> text = JsonStart(path);
  if (!text.ok()) return false;
  for (const std::string_view start :
       {"{\"lst\":[{", "{\"lst\":[],\"polygraphy_class\":\"AccuracyResults\"",
        "{\"polygraphy_class\":\"AccuracyResults\""}) {
    if (text->starts_with(start)) return true;
  }
  return false;
}

Result<SavedTensors> OpenSavedTensors(const std::string& path, SavedKind preferred,
                                      ArchiveAccess access) {
  if (IsDirectory(path)) return OpenDirectory(path, preferred, access);
  VERNIER_ASSIGN_OR_RETURN(const FileKind kind, DetectFileKind(path));
  switch (kind) {
    case FileKind::kNpz:
      return OpenArchive(path, ArchiveFormat::kNpz, access);
    case FileKind::kSafetensors:
      return OpenArchive(path, ArchiveFormat::kSafetensors, access);
    case FileKind::kJson: {
      VERNIER_ASSIGN_OR_RETURN(const SavedKind json, SniffJsonKind(path));
      if (json == SavedKind::kOutputs) return OpenResults(path, access);
      break;
    }
    case FileKind::kNpy:
    case FileKind::kProtobuf:
      break;
  }
  return MakeRun({path}, OpenFeedFile, SavedKind::kInputs);
}

}  // namespace vernier
