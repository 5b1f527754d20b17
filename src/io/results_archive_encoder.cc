#include <map>
#include <optional>
#include <utility>

#include "io/archive_names.h"
#include "io/journal.h"
#include "io/results_encoder.h"
#include "util/atomic_file.h"

namespace vernier {
namespace {

class ArchiveEncoder final : public ResultsEncoder {
 public:
  ArchiveEncoder(EncoderTarget target, PartFile spool, ArchiveFormat format)
      : path_(std::move(target.path)), format_(format), spool_(std::move(spool)) {
    std::map<std::string, int> seen;
    for (const std::string& name : target.runner_names) {
      // '#' is never in an encoded name, so numbered keys of equal names cannot meet another name.
      std::string key = PercentEncode(name);
      if (const int n = ++seen[name]; n > 1) key += "#" + std::to_string(n);
      runs_.push_back({.key = std::move(key), .name = name, .iterations = {}});
    }
    layouts_.resize(runs_.size());
  }

  Status Start() {
    VERNIER_ASSIGN_OR_RETURN(tensors_, TensorArchiveWriter::Create(spool_, format_));
    spool_.WriteBackEarly();
    return {};
  }

  Result<std::string> Append(size_t runner, const IterationResult& result,
                             std::optional<uint64_t> feed) override {
    ArchiveRun& run = runs_[runner];
    const size_t before = tensors_->size();
    const uint64_t begin = spool_.size();
    JournalIteration entry{.runner = runner,
                           .iteration = run.iterations.size(),
                           .begin = begin,
                           .end = begin,
                           .layout = std::nullopt,
                           .name = std::nullopt,
                           .runtime_s = result.runtime_s,
                           .checksum = std::nullopt,
                           .feed = feed};
    if (Status status = AddOutputs(run, result.outputs, entry); !status.ok()) {
      VERNIER_TRY(tensors_->Truncate(before));
      return status;
    }
    owners_.resize(tensors_->size(), {runner, run.iterations.size()});
    run.iterations.push_back(
        {.runner_name = result.runner_name, .runtime_s = result.runtime_s, .feed = feed});
    entry.end = spool_.size();
    if (result.runner_name != run.name) entry.name = result.runner_name;
    std::string lines = DescribeLayout(runner, result.outputs, entry);
    return lines + FormatJournalIteration(entry);
  }

  Status Publish(std::span<const size_t> counts) override {
    std::vector<bool> selected;
    for (const Owner& owner : owners_) selected.push_back(owner.iteration < counts[owner.runner]);
    ArchiveMetadata metadata;
    metadata.is_results = true;
    metadata.runs = runs_;
    bool all = true;
    for (size_t i = 0; i < counts.size(); ++i) {
      all &= metadata.runs[i].iterations.size() == counts[i];
      metadata.runs[i].iterations.resize(counts[i]);
    }
    if (all && CanRenameOver(path_)) {
      VERNIER_ASSIGN_OR_RETURN(const bool published, PublishInPlace(metadata));
      if (published) return {};
    }
    VERNIER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path_));
    VERNIER_TRY(tensors_->WriteTo(file, selected, std::move(metadata)));
    return file.Commit();
  }

 private:
  // Saves writing everything twice, where the format allows it.
  Result<bool> PublishInPlace(const ArchiveMetadata& metadata) {
    const Result<bool> finished = tensors_->FinishSpool(metadata);
    if (finished.ok() && !*finished) return false;
    Status status = finished.ok() ? spool_.PublishAs(path_) : finished.status();
    if (status.ok()) return true;
    VERNIER_TRY(tensors_->Truncate(tensors_->size()));
    return status;
  }

  struct Owner {
    size_t runner;
    size_t iteration;
  };

  Status AddOutputs(const ArchiveRun& run, const TensorMap& outputs, JournalIteration& entry) {
    const bool checked = format_ == ArchiveFormat::kSafetensors;
    if (checked) spool_.BeginChecksum();
    for (const NamedTensor& output : outputs) {
      const ArchiveName name{
          .run = run.key, .iteration = run.iterations.size(), .tensor = output.name};
      VERNIER_TRY(tensors_->Add(FormatArchiveName(name), output.tensor));
    }
    if (checked) entry.checksum = spool_.EndChecksum();
    return {};
  }

  // The journal's line of the tensors, unless the runner's last iteration had the same.
  std::string DescribeLayout(size_t runner, const TensorMap& outputs, JournalIteration& entry) {
    JournalLayout layout;
    for (const auto& [name, tensor] : outputs) {
      layout.push_back({.name = name,
                        .dtype = tensor.dtype(),
                        .dims = tensor.dims(),
                        .bytes = tensor.bytes().size()});
    }
    auto& [number, last] = layouts_[runner];
    if (number && layout == last) {
      entry.layout = number;
      return "";
    }
    entry.layout = number = next_layout_++;
    last = std::move(layout);
    return FormatJournalLayout(*number, last);
  }

  struct LastLayout {
    std::optional<size_t> number;
    JournalLayout layout;
  };

  std::string path_;
  ArchiveFormat format_;
  PartFile spool_;
  std::unique_ptr<TensorArchiveWriter> tensors_;
  std::vector<ArchiveRun> runs_;
  std::vector<Owner> owners_;        // parallel to the tensors
  std::vector<LastLayout> layouts_;  // one for each runner
  size_t next_layout_ = 0;
};

}  // namespace

Result<std::unique_ptr<ResultsEncoder>> MakeArchiveEncoder(EncoderTarget target,
                                                           ArchiveFormat format) {
  VERNIER_ASSIGN_OR_RETURN(PartFile spool, target.folder->CreatePart(kArchivePartName));
  auto encoder = std::make_unique<ArchiveEncoder>(std::move(target), std::move(spool), format);
  VERNIER_TRY(encoder->Start());
  return std::unique_ptr<ResultsEncoder>(std::move(encoder));
}

}  // namespace vernier
