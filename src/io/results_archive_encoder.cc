#include <map>
#include <utility>

#include "io/archive_names.h"
#include "io/results_encoder.h"

namespace vernier {
namespace {

class ArchiveEncoder final : public ResultsEncoder {
 public:
  ArchiveEncoder(EncoderTarget target, PartFile spool, ArchiveFormat format)
      : path_(std::move(target.path)),
        spool_(std::move(spool)),
        tensors_(TensorArchiveWriter::Create(spool_, format)) {
    std::map<std::string, int> seen;
    for (const std::string& name : target.runner_names) {
      // '#' is never in an encoded name, so numbered keys of equal names cannot meet another name.
      std::string key = PercentEncode(name);
      if (const int n = ++seen[name]; n > 1) key += "#" + std::to_string(n);
      runs_.push_back({.key = std::move(key), .name = name, .iterations = {}});
    }
  }

  Result<uint64_t> Append(size_t runner, const IterationResult& result) override {
    ArchiveRun& run = runs_[runner];
    const size_t before = tensors_->size();
    if (Status status = AddOutputs(run, result.outputs); !status.ok()) {
      VERNIER_TRY(tensors_->Truncate(before));
      return status;
    }
    owners_.resize(tensors_->size(), {runner, run.iterations.size()});
    run.iterations.push_back({.runner_name = result.runner_name, .runtime_s = result.runtime_s});
    return spool_.size();
  }

  Status Publish(std::span<const size_t> counts) override {
    std::vector<bool> selected;
    for (const Owner& owner : owners_) selected.push_back(owner.iteration < counts[owner.runner]);
    ArchiveMetadata metadata;
    metadata.is_results = true;
    metadata.runs = runs_;
    for (size_t i = 0; i < counts.size(); ++i) metadata.runs[i].iterations.resize(counts[i]);
    VERNIER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path_));
    VERNIER_TRY(tensors_->WriteTo(file, selected, std::move(metadata)));
    return file.Commit();
  }

 private:
  struct Owner {
    size_t runner;
    size_t iteration;
  };

  Status AddOutputs(const ArchiveRun& run, const TensorMap& outputs) {
    for (const NamedTensor& output : outputs) {
      const ArchiveName name{
          .run = run.key, .iteration = run.iterations.size(), .tensor = output.name};
      VERNIER_TRY(tensors_->Add(FormatArchiveName(name), output.tensor));
    }
    return {};
  }

  std::string path_;
  PartFile spool_;
  std::unique_ptr<TensorArchiveWriter> tensors_;
  std::vector<ArchiveRun> runs_;
  std::vector<Owner> owners_;  // parallel to the tensors
};

}  // namespace

Result<std::unique_ptr<ResultsEncoder>> MakeArchiveEncoder(EncoderTarget target,
                                                           ArchiveFormat format) {
  VERNIER_ASSIGN_OR_RETURN(PartFile spool, target.folder->CreatePart("tensors.part"));
  return std::unique_ptr<ResultsEncoder>(
      std::make_unique<ArchiveEncoder>(std::move(target), std::move(spool), format));
}

}  // namespace vernier
