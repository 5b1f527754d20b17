#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "io/archive/archive_names.h"
#include "io/journal/journal.h"
#include "io/results/results_encoder.h"

namespace vernier {
namespace {

// What is kept of an iteration, before its runner's name.
struct Numbers {
  uint64_t has_runtime = 0;
  uint64_t has_feed = 0;
  double runtime_s = 0;
  uint64_t feed = 0;
};

class ArchiveEncoder final : public ResultsEncoder {
 public:
  ArchiveEncoder(EncoderTarget target, PartFile spool, ArchiveFormat format)
      : path_(std::move(target.path)), format_(format), spool_(std::move(spool)) {
    std::map<std::string, int> seen;
    for (const std::string& name : target.runner_names) {
      // '#' is never in an encoded name, so numbered keys of equal names cannot meet another name.
      std::string key = PercentEncode(name);
      if (const int n = ++seen[name]; n > 1) key += "#" + std::to_string(n);
      runs_.push_back({.key = std::move(key),
                       .name = name,
                       .count = 0,
                       .layout = {},
                       .iterations = RecordSpill(spool_.directory())});
    }
  }

  Status Start() {
    VERNIER_ASSIGN_OR_RETURN(tensors_, TensorArchiveWriter::Create(spool_, format_));
    spool_.WriteBackEarly();
    return {};
  }

  Result<std::string> Append(size_t runner, const IterationResult& result,
                             std::optional<uint64_t> feed) override {
    Run& run = runs_[runner];
    const TensorArchiveWriter::Mark before = tensors_->mark();
    const uint64_t begin = spool_.size();
    JournalIteration entry{.runner = runner,
                           .iteration = run.count,
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
    run.iterations.Append(RecordOf({result.runner_name, result.runtime_s, feed}));
    ++run.count;
    entry.end = spool_.size();
    if (result.runner_name != run.name) entry.name = result.runner_name;
    std::string lines = DescribeLayout(result.outputs, run.layout, next_layout_, entry);
    return lines + FormatJournalIteration(entry);
  }

  void NoteSteps(size_t runner, const std::string& text) override { runs_[runner].steps = text; }

  Status Publish(std::span<const size_t> counts) override {
    bool all = true;
    for (size_t i = 0; i < counts.size(); ++i) all &= runs_[i].count == counts[i];
    return tensors_->Publish(path_, all ? nullptr : Selection(counts), MetadataOf(counts));
  }

 private:
  struct Run {
    std::string key;  // the first part of its tensors' names
    std::string name;
    size_t count;
    KnownLayout layout;
    RecordSpill iterations;  // see RecordOf()
    std::string steps = {};
  };

  // Whether each number is there, both, and the name.
  static std::string RecordOf(const ArchiveIteration& iteration) {
    Numbers numbers{.has_runtime = iteration.runtime_s.has_value(),
                    .has_feed = iteration.feed.has_value(),
                    .runtime_s = iteration.runtime_s.value_or(0),
                    .feed = iteration.feed.value_or(0)};
    std::string record(sizeof(numbers), '\0');
    std::memcpy(record.data(), &numbers, sizeof(numbers));
    return record + iteration.runner_name;
  }

  static ArchiveIteration IterationOf(std::string_view record) {
    Numbers numbers;
    std::memcpy(&numbers, record.data(), sizeof(numbers));
    ArchiveIteration iteration;
    iteration.runner_name = record.substr(sizeof(numbers));
    if (numbers.has_runtime != 0) iteration.runtime_s = numbers.runtime_s;
    if (numbers.has_feed != 0) iteration.feed = numbers.feed;
    return iteration;
  }

  // Of the first counts[i] iterations of each runner i.
  WrittenMetadata MetadataOf(std::span<const size_t> counts) const {
    WrittenMetadata metadata{.is_results = true, .runs = {}, .feed_count = std::nullopt};
    for (size_t i = 0; i < counts.size(); ++i) {
      const RecordSpill& iterations = runs_[i].iterations;
      metadata.runs.push_back({runs_[i].key, runs_[i].name,
                               [&iterations, count = counts[i]](const auto& use) {
                                 size_t done = 0;
                                 return iterations.ForEach([&](std::string_view record) {
                                   return done++ < count ? use(IterationOf(record)) : Status();
                                 });
                               },
                               runs_[i].steps});
    }
    return metadata;
  }

  // The names are those that AddOutputs() gave.
  TensorSelection Selection(std::span<const size_t> counts) const {
    std::map<std::string, size_t> ends;
    for (size_t i = 0; i < counts.size(); ++i) ends[runs_[i].key] = counts[i];
    return [ends = std::move(ends)](std::string_view name) {
      const std::optional<ArchiveName> parts = ParseArchiveName(name);
      return parts && parts->iteration < ends.at(parts->run);
    };
  }

  Status AddOutputs(const Run& run, const TensorMap& outputs, JournalIteration& entry) {
    const bool checked = format_ == ArchiveFormat::kSafetensors;
    if (checked) spool_.BeginChecksum();
    for (const NamedTensor& output : outputs) {
      const ArchiveName name{.run = run.key, .iteration = run.count, .tensor = output.name};
      VERNIER_TRY(tensors_->Add(FormatArchiveName(name), output.tensor));
    }
    if (checked) entry.checksum = spool_.EndChecksum();
    return {};
  }

  std::string path_;
  ArchiveFormat format_;
  PartFile spool_;
  std::unique_ptr<TensorArchiveWriter> tensors_;
  std::vector<Run> runs_;
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
