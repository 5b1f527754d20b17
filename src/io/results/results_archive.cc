#include "io/results/results_archive.h"

#include <utility>
#include <vector>

#include "io/archive/archive_index.h"

namespace vernier {
namespace {

class ArchiveResults final : public ResultsReader::Source {
 public:
  ArchiveResults(std::unique_ptr<TensorArchive> archive, ArchiveIndex index, ArchiveAccess access)
      : archive_(std::move(archive)), index_(std::move(index)), access_(access) {
    for (const ArchiveIndex::Run& run : index_.runs) {
      runs_.push_back({run.name, run.size(), run.first, run.steps});
    }
  }

  const std::vector<SavedRun>& runs() const override { return runs_; }

  Result<IterationResult> Read(size_t run, size_t iteration) override {
    const ArchiveIndex::Run& source = index_.runs[run];
    ArchiveIteration details = source.Details(iteration);
    IterationResult result{.runner_name = std::move(details.runner_name),
                           .runtime_s = details.runtime_s,
                           .outputs = {}};
    VERNIER_ASSIGN_OR_RETURN(result.outputs, ReadIteration(*archive_, source, iteration, access_));
    return result;
  }

  std::optional<uint64_t> FeedOf(size_t run, size_t iteration) const override {
    return index_.runs[run].Details(iteration).feed;
  }

  Status CheckIntact() const override { return archive_->CheckIntact(); }

 private:
  std::unique_ptr<TensorArchive> archive_;
  ArchiveIndex index_;
  ArchiveAccess access_;
  std::vector<SavedRun> runs_;
};

}  // namespace

std::unique_ptr<ResultsReader::Source> MakeArchiveRuns(std::unique_ptr<TensorArchive> archive,
                                                       ArchiveIndex index, ArchiveAccess access) {
  return std::make_unique<ArchiveResults>(std::move(archive), std::move(index), access);
}

Result<std::unique_ptr<ResultsReader::Source>> OpenArchiveResults(const std::string& path,
                                                                  ArchiveFormat format,
                                                                  ArchiveAccess access) {
  VERNIER_ASSIGN_OR_RETURN(auto archive, TensorArchive::Open(path, format));
  VERNIER_ASSIGN_OR_RETURN(ArchiveIndex index, IndexArchive(*archive));
  if (!index.is_results) {
    for (ArchiveIndex::Run& run : index.runs) run.name = "custom_runner";
  }
  return MakeArchiveRuns(std::move(archive), std::move(index), access);
}

}  // namespace vernier
