#include <algorithm>
#include <optional>
#include <utility>

#include "io/journal/journal.h"
#include "io/json/json_writer.h"
#include "io/polygraphy/polygraphy_array.h"
#include "io/results/iteration_directory.h"
#include "io/results/results_encoder.h"
#include "util/files/atomic_file.h"

namespace vernier {
namespace {

// An iteration stands in: the results, their list, a runner's pair, its list.
constexpr int kIterationDepth = 4;
constexpr std::string_view kIterationSeparator = ",\n                ";

std::string JsonString(std::string_view text) {
  StringSink sink;
  JsonWriter writer(sink);
  writer.String(text);
  return writer.Finish().ok() ? sink.text() : std::string();
}

Status WriteIteration(ByteSink& sink, const IterationResult& result) {
  JsonWriter writer(sink, kIterationDepth);
  writer.BeginObject();
  writer.Key("outputs");
  writer.BeginObject();
  for (const NamedTensor& output : result.outputs) {
    writer.Key(output.name);
    WritePolygraphyArray(writer, output.tensor, PolygraphyArrayForm::kLazyArray);
  }
  writer.EndObject();
  writer.Key("runtime");
  result.runtime_s ? writer.Double(*result.runtime_s) : writer.Null();
  writer.Key("runner_name");
  writer.String(result.runner_name);
  writer.Key("polygraphy_class");
  writer.String("IterationResult");
  writer.EndObject();
  return writer.Finish();
}

struct Range {
  size_t first = 0;
  size_t last = 0;
};

struct WrittenText {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t checksum = 0;
};

// The iterations of one runner: their texts with the separators of a JSON list, ready to be copied
// as a whole.
class RunnerPart {
 public:
  /// `opening` stands before the first iteration.
  RunnerPart(PartFile file, std::string_view opening) : file_(std::move(file)), opening_(opening) {}

  /// Where the iteration's text is in the part.
  Result<WrittenText> Append(const IterationResult& result) {
    const uint64_t before = file_.size();
    Status status = file_.WriteText(ends_.empty() ? opening_ : kIterationSeparator);
    if (ends_.empty()) begin_ = file_.size();
    file_.BeginChecksum();
    if (status.ok()) status = WriteIteration(file_, result);
    const uint64_t checksum = file_.EndChecksum();
    if (!status.ok()) {
      VERNIER_TRY(file_.Truncate(before));
      return status;
    }
    ends_.push_back(file_.size());
    return WrittenText{BeginOf(size() - 1), file_.size(), checksum};
  }

  size_t size() const { return ends_.size(); }

  /// Iterations [first, last) with the separators between them.
  Status CopyTo(OutputFile& file, size_t first, size_t last) const {
    const uint64_t begin = BeginOf(first);
    return file.CopyFrom(file_.fd(), begin, ends_[last - 1] - begin);
  }

  void Release(size_t iteration) { file_.Release(BeginOf(iteration), ends_[iteration]); }

  PartFile& file() { return file_; }

 private:
  uint64_t BeginOf(size_t iteration) const {
    return iteration == 0 ? begin_ : ends_[iteration - 1] + kIterationSeparator.size();
  }

  PartFile file_;
  std::string_view opening_;
  uint64_t begin_ = 0;  // of the first iteration
  std::vector<uint64_t> ends_;
};

// The text of a RunResults file around its iterations.
constexpr std::string_view kHead = "{\n    \"lst\": [";
constexpr std::string_view kDocumentEnd = "],\n    \"polygraphy_class\": \"RunResults\"\n}";
constexpr std::string_view kFirstIteration = "\n                ";

std::string RunHead(const std::string& quoted_name) {
  return "        [\n            " + quoted_name + ",\n            [";
}

std::string_view RunTail(bool has_iterations) {
  return has_iterations ? "\n            ]\n        ]" : "]\n        ]";
}

class JsonParts {
 public:
  /// With `in_place` the first runner's part begins as the file will, and can become it.
  static Result<JsonParts> Create(const EncoderTarget& target, bool in_place) {
    JsonParts parts;
    for (size_t i = 0; i < target.runner_names.size(); ++i) {
      parts.names_.push_back(JsonString(target.runner_names[i]));
      VERNIER_ASSIGN_OR_RETURN(PartFile file, target.folder->CreatePart(JsonPartName(i)));
      const bool is_target = in_place && i == 0;
      if (is_target) {
        VERNIER_TRY(file.WriteText(std::string(kHead) + "\n" + RunHead(parts.names_[0])));
        file.WriteBackEarly();
      }
      parts.parts_.emplace_back(std::move(file), is_target ? kFirstIteration : std::string_view());
    }
    return parts;
  }

  RunnerPart& operator[](size_t runner) { return parts_[runner]; }

  /// Returns the journal's line.
  Result<std::string> Append(size_t runner, const IterationResult& result,
                             std::optional<uint64_t> feed) {
    VERNIER_ASSIGN_OR_RETURN(const WrittenText text, parts_[runner].Append(result));
    return FormatJournalIteration({.runner = runner,
                                   .iteration = parts_[runner].size() - 1,
                                   .begin = text.begin,
                                   .end = text.end,
                                   .layout = std::nullopt,
                                   .name = std::nullopt,
                                   .runtime_s = std::nullopt,
                                   .checksum = text.checksum,
                                   .feed = feed});
  }

  size_t Common() const {
    size_t common = parts_.empty() ? 0 : parts_.front().size();
    for (const RunnerPart& part : parts_) common = std::min(common, part.size());
    return common;
  }

  size_t Longest() const {
    size_t longest = 0;
    for (const RunnerPart& part : parts_) longest = std::max(longest, part.size());
    return longest;
  }

  /// A RunResults file of one range of each runner; runners without a range are left out.
  Status WriteFile(const std::string& path, std::span<const std::optional<Range>> ranges) const {
    VERNIER_ASSIGN_OR_RETURN(AtomicFile target, AtomicFile::Create(path));
    AtomicFileSink file(target);
    VERNIER_TRY(file.WriteText(kHead));
    bool first = true;
    for (size_t i = 0; i < ranges.size(); ++i) {
      if (!ranges[i]) continue;
      VERNIER_TRY(file.WriteText(first ? "\n" : ",\n"));
      VERNIER_TRY(WriteRun(file, i, *ranges[i]));
      first = false;
    }
    VERNIER_TRY(file.WriteText(first ? "" : "\n    "));
    VERNIER_TRY(file.WriteText(kDocumentEnd));
    return target.Commit();
  }

  /// Makes the first runner's part the file, which saves writing it twice. On error the parts are
  /// as before.
  Status PublishInPlace(const std::string& path, std::span<const size_t> counts) {
    PartFile& file = parts_[0].file();
    const uint64_t before = file.size();
    Status status = AppendRest(file, counts);
    if (status.ok()) status = file.PublishAs(path);
    if (!status.ok()) VERNIER_TRY(file.Truncate(before));
    return status;
  }

 private:
  Status AppendRest(PartFile& file, std::span<const size_t> counts) const {
    VERNIER_TRY(file.WriteText(RunTail(counts[0] > 0)));
    for (size_t i = 1; i < counts.size(); ++i) {
      VERNIER_TRY(file.WriteText(",\n"));
      VERNIER_TRY(WriteRun(file, i, {0, counts[i]}));
    }
    VERNIER_TRY(file.WriteText("\n    "));
    return file.WriteText(kDocumentEnd);
  }

  Status WriteRun(OutputFile& file, size_t runner, Range range) const {
    VERNIER_TRY(file.WriteText(RunHead(names_[runner])));
    const bool has_iterations = range.last > range.first;
    if (has_iterations) {
      VERNIER_TRY(file.WriteText(kFirstIteration));
      VERNIER_TRY(parts_[runner].CopyTo(file, range.first, range.last));
    }
    return file.WriteText(RunTail(has_iterations));
  }

  std::vector<std::string> names_;
  std::vector<RunnerPart> parts_;
};

class JsonFileEncoder final : public ResultsEncoder {
 public:
  JsonFileEncoder(std::string path, JsonParts parts)
      : path_(std::move(path)), parts_(std::move(parts)) {}

  Result<std::string> Append(size_t runner, const IterationResult& result,
                             std::optional<uint64_t> feed) override {
    return parts_.Append(runner, result, feed);
  }

  Status Publish(std::span<const size_t> counts) override {
    const bool whole = !counts.empty() && counts[0] == parts_[0].size();
    if (whole && CanRenameOver(path_)) return parts_.PublishInPlace(path_, counts);
    std::vector<std::optional<Range>> ranges;
    for (const size_t count : counts) ranges.push_back(Range{0, count});
    return parts_.WriteFile(path_, ranges);
  }

 private:
  std::string path_;
  JsonParts parts_;
};

class JsonDirectoryEncoder final : public ResultsEncoder {
 public:
  JsonDirectoryEncoder(std::string path, JsonParts parts, size_t runners)
      : path_(std::move(path)), parts_(std::move(parts)), runners_(runners) {}

  Result<std::string> Append(size_t runner, const IterationResult& result,
                             std::optional<uint64_t> feed) override {
    return parts_.Append(runner, result, feed);
  }

  Status Recorded() override {
    const std::vector<size_t> all(runners_, parts_.Longest());
    while (written_ < parts_.Common()) VERNIER_TRY(WriteNext(all));
    return {};
  }

  Status Publish(std::span<const size_t> counts) override {
    const size_t last = counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
    while (written_ < last) VERNIER_TRY(WriteNext(counts));
    return {};
  }

 private:
  // The disk space of what is in its file already is given back.
  Status WriteNext(std::span<const size_t> counts) {
    std::vector<std::optional<Range>> ranges(runners_);
    for (size_t i = 0; i < runners_; ++i) {
      const bool has_it = written_ < std::min(counts[i], parts_[i].size());
      if (has_it) ranges[i] = Range{written_, written_ + 1};
    }
    VERNIER_TRY(parts_.WriteFile(IterationFilePath(path_, written_), ranges));
    for (size_t i = 0; i < runners_; ++i) {
      if (ranges[i]) parts_[i].Release(written_);
    }
    ++written_;
    return {};
  }

  std::string path_;
  JsonParts parts_;
  size_t runners_;
  size_t written_ = 0;
};

}  // namespace

std::string JsonPartName(size_t runner) { return std::to_string(runner) + ".json"; }

Result<std::unique_ptr<ResultsEncoder>> MakeJsonFileEncoder(EncoderTarget target) {
  VERNIER_ASSIGN_OR_RETURN(JsonParts parts, JsonParts::Create(target, true));
  return std::unique_ptr<ResultsEncoder>(
      std::make_unique<JsonFileEncoder>(std::move(target.path), std::move(parts)));
}

Result<std::unique_ptr<ResultsEncoder>> MakeJsonDirectoryEncoder(EncoderTarget target) {
  VERNIER_TRY(CreateIterationDirectory(target.path, "inference results"));
  VERNIER_ASSIGN_OR_RETURN(JsonParts parts, JsonParts::Create(target, false));
  return std::unique_ptr<ResultsEncoder>(std::make_unique<JsonDirectoryEncoder>(
      std::move(target.path), std::move(parts), target.runner_names.size()));
}

}  // namespace vernier
