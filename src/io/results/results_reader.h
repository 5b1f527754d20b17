// Saved outputs: what --save-outputs wrote and --load-outputs reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/archive/archive_access.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// One saved runner.
struct SavedRun {
  std::string name;  ///< need not be unique
  size_t iterations = 0;
  uint64_t first = 0;      ///< number that the file gives to the first of them
  std::string steps = {};  ///< how its steps were fed, as ResultsWriter::NoteSteps() noted
};

/// Reads the outputs of one or more runners, an iteration at a time. Reading is not thread-safe.
class ResultsReader {
 public:
  using Run = SavedRun;

  /// What the reader of one file format provides.
  class Source {
   public:
    virtual ~Source() = default;
    virtual const std::vector<Run>& runs() const = 0;
    virtual Result<IterationResult> Read(size_t run, size_t iteration) = 0;
    virtual Status CheckIntact() const { return {}; }
    virtual std::optional<uint64_t> FeedOf(size_t, size_t) const { return std::nullopt; }
    virtual std::string Damage() const { return {}; }
  };

  /// Opens a JSON, npz or safetensors file (known by its extension, else by its content) or a
  /// directory of such files, one or more iterations each, in the order of their names. One pass
  /// records where everything lies; tensors are decoded by Read. kMalformed, naming the file, when
  /// it is missing, damaged or holds something else.
  static Result<std::unique_ptr<ResultsReader>> Open(const std::string& path,
                                                     ArchiveAccess access = ArchiveAccess::kRead);

  /// A reader of something else that has runs and iterations.
  static std::unique_ptr<ResultsReader> Of(std::unique_ptr<Source> source) {
    return std::unique_ptr<ResultsReader>(new ResultsReader(std::move(source)));
  }

  /// In the file's order.
  const std::vector<Run>& runs() const { return source_->runs(); }

  /// Outputs in the file's order. kInvalidArgument for an index out of range; kMalformed when an
  /// array is damaged.
  Result<IterationResult> Read(size_t run, size_t iteration);

  /// MarkFeed() of what an iteration that is there was made from, where that was saved: not in
  /// JSON, which is Polygraphy's.
  std::optional<uint64_t> FeedOf(size_t run, size_t iteration) const {
    return source_->FeedOf(run, iteration);
  }

  /// What is known to be damaged that belongs to no iteration that is listed, as a sentence
  /// without its full stop: lines of a journal. Empty where nothing is.
  std::string Damage() const { return source_->Damage(); }

  /// Whether the files are still what they were when they were opened. kMalformed, naming one that
  /// is not: what was read or mapped must not be used.
  Status CheckIntact() const { return source_->CheckIntact(); }

 private:
  explicit ResultsReader(std::unique_ptr<Source> source) : source_(std::move(source)) {}

  std::unique_ptr<Source> source_;
};

}  // namespace vernier
