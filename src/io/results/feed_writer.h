// Saves inputs while they are being made.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "io/results/partial_folder.h"
#include "io/results/results_format.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Writes feeds one after the other in constant memory. A path ending in .npz or .safetensors is
/// written in that format, any other path with an extension as Polygraphy's JSON list; such files
/// appear whole with Finish(), and until then PATH keeps its old bytes and the feeds wait in
/// `PATH.partial/`, as outputs do (see ResultsWriter). A path without an extension is a directory
/// of one JSON file for each feed, each of which appears with its Append().
class FeedWriter {
 public:
  /// What the writer of one format provides.
  class Encoder {
   public:
    virtual ~Encoder() = default;
    /// Returns what the journal says about the feed, where there is one. On error the parts are as
    /// before.
    virtual Result<std::string> Append(const TensorMap& feed) = 0;
    virtual Status Finish() = 0;
    /// Removes what stands in its place already.
    virtual void Discard() {}
  };

  /// kIo when the place cannot be written, or is a directory that is not empty. Of a directory,
  /// the first `kept` feeds may be there: they stay, and as many Append()s write nothing.
  static Result<std::unique_ptr<FeedWriter>> Create(const std::string& path, uint64_t kept = 0) {
    return Create(path, ResultsFormatFor(path), kept);
  }
  static Result<std::unique_ptr<FeedWriter>> Create(
      const std::string& path, ResultsFormat format, uint64_t kept = 0,
      PartialFolder::Earlier earlier = PartialFolder::Earlier::kRenamed);

  /// Without Finish() the parts stay where they are if they hold any feed.
  ~FeedWriter();
  FeedWriter(const FeedWriter&) = delete;
  FeedWriter& operator=(const FeedWriter&) = delete;

  /// kIo; after an error Finish() fails too.
  Status Append(const TensorMap& feed);

  /// Makes PATH and removes the parts. On error (kIo) PATH is as it was and the parts stay.
  Status Finish();

  /// The same of a copy, whose source is still there: on error nothing of it is left beside PATH.
  Status FinishOrDiscard();

  /// Removes what was written. Nothing may be called afterwards.
  void Discard();

  /// Where feeds wait that are not in PATH yet; empty for a directory, when there are none, and
  /// when all is published.
  std::string partial_path() const;

  /// Where the parts of an earlier run that was cut off were moved; empty when there were none.
  std::string stale_partial() const { return folder_ ? folder_->stale() : std::string(); }

 private:
  FeedWriter() = default;
  Status TryToFinish();

  std::optional<PartialFolder> folder_;
  std::unique_ptr<Encoder> encoder_;  // null when all is done
  uint64_t appended_ = 0;
  Status broken_;
};

}  // namespace vernier
