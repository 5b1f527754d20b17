#include "io/results/results_directory.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "io/bytes/directory_listing.h"
#include "io/results/interleaved_runs.h"
#include "io/results/shard_file_name.h"
#include "util/files/input_file.h"

namespace vernier {
namespace {

class ResultsDirectory final : public ResultsReader::Source {
 public:
  ResultsDirectory(std::vector<std::string> files, ResultsOpener open)
      : files_(std::move(files)), open_(std::move(open)) {}

  Status Index();
  const std::vector<SavedRun>& runs() const override { return runs_; }
  Result<IterationResult> Read(size_t run, size_t iteration) override;
  Status CheckIntact() const override;
  std::optional<uint64_t> FeedOf(size_t run, size_t iteration) const override {
    return places_[run][iteration].feed;
  }
  std::string Damage() const override { return damage_; }

 private:
  struct Place {
    size_t file;
    size_t run;
    size_t iteration;
    std::optional<uint64_t> feed;
  };

  Status Load(size_t file);
  Status CheckStamp(size_t file) const;
  void AddRunsOf(size_t file);

  std::vector<std::string> files_;
  ResultsOpener open_;
  std::vector<FileStamp> stamps_;  // of those that were looked at
  std::vector<SavedRun> runs_;
  std::vector<std::vector<Place>> places_;
  // The n-th runner of a name in each file is the n-th of that name in all.
  std::map<std::pair<std::string, size_t>, size_t> known_;
  std::string damage_;  // of the first file that has any
  size_t loaded_ = 0;
  std::unique_ptr<ResultsReader::Source> current_;
};

Status ResultsDirectory::Load(size_t file) {
  if (current_ != nullptr && loaded_ == file) return {};
  if (current_ != nullptr) VERNIER_TRY(current_->CheckIntact());
  current_ = nullptr;
  if (file == stamps_.size()) {
    VERNIER_ASSIGN_OR_RETURN(const auto now, InputFile::Open(files_[file]));
    stamps_.push_back(now->stamp());
  }
  VERNIER_ASSIGN_OR_RETURN(current_, open_(files_[file]));
  loaded_ = file;
  return CheckStamp(file);
}

Status ResultsDirectory::CheckStamp(size_t file) const {
  VERNIER_ASSIGN_OR_RETURN(const auto now, InputFile::Open(files_[file]));
  if (now->stamp() == stamps_[file]) return {};
  return Malformed("'" + files_[file] + "' was written to while it was read");
}

Status ResultsDirectory::CheckIntact() const {
  for (size_t file = 0; file < stamps_.size(); ++file) VERNIER_TRY(CheckStamp(file));
  return current_ == nullptr ? Status() : current_->CheckIntact();
}

void ResultsDirectory::AddRunsOf(size_t file) {
  if (damage_.empty()) damage_ = current_->Damage();
  std::map<std::string, size_t> seen;
  for (size_t local = 0; local < current_->runs().size(); ++local) {
    const SavedRun& run = current_->runs()[local];
    const auto [entry, is_new] =
        known_.emplace(std::pair(run.name, seen[run.name]++), runs_.size());
    if (is_new) {
      runs_.push_back({run.name, 0, 0, run.steps});
      places_.emplace_back();
    }
    for (size_t i = 0; i < run.iterations; ++i) {
      places_[entry->second].push_back({file, local, i, current_->FeedOf(local, i)});
    }
    runs_[entry->second].iterations += run.iterations;
  }
}

Status ResultsDirectory::Index() {
  for (size_t file = 0; file < files_.size(); ++file) {
    VERNIER_TRY(Load(file));
    AddRunsOf(file);
  }
  return {};
}

Result<IterationResult> ResultsDirectory::Read(size_t run, size_t iteration) {
  const Place& place = places_[run][iteration];
  VERNIER_TRY(Load(place.file));
  return current_->Read(place.run, place.iteration);
}

Result<std::unique_ptr<ResultsReader::Source>> OpenByStride(const std::vector<std::string>& files,
                                                            const ResultsOpener& open) {
  return InterleaveFiles(files,
                         [&](const std::string& file) -> Result<std::unique_ptr<ResultsReader>> {
                           VERNIER_ASSIGN_OR_RETURN(auto source, open(file));
                           return ResultsReader::Of(std::move(source));
                         });
}

}  // namespace

Result<std::unique_ptr<ResultsReader::Source>> OpenResultsDirectory(const std::string& path,
                                                                    ResultsOpener open) {
  VERNIER_ASSIGN_OR_RETURN(std::vector<std::string> files, ListSavedFiles(path));
  if (files.empty()) {
    return Malformed("No per-iteration '*.json' files found in directory '" + path +
                     "', nor '*.npz' or '*.safetensors' files");
  }
  if (AreAllByStride(files)) return OpenByStride(files, open);
  auto results = std::make_unique<ResultsDirectory>(std::move(files), std::move(open));
  VERNIER_TRY(results->Index());
  return std::unique_ptr<ResultsReader::Source>(std::move(results));
}

}  // namespace vernier
