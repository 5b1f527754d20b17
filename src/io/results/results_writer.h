// Saves outputs while runners are still producing them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/results/partial_folder.h"
#include "io/results/results_format.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class ResultsEncoder;

/// Finished iterations are appended to parts in `PATH.partial/`; Publish() makes PATH of them in
/// one step. Until then PATH keeps its old bytes. Memory does not grow with the tensors.
///
/// PATH ending in .npz or .safetensors is written in that format, any other path with an extension
/// as Polygraphy's JSON, and a path without one becomes a directory of one JSON file for each
/// iteration, written (each in one step) as soon as all runners have finished it.
class ResultsWriter {
 public:
  /// `runner_names` in the order of the file; they may repeat. `origin` is for a run that
  /// continues the parts. kIo when the place cannot be written, or is a directory that is not
  /// empty.
  static Result<std::unique_ptr<ResultsWriter>> Create(std::string path,
                                                       std::vector<std::string> runner_names,
                                                       PartialOrigin origin = {});

  /// The same in a format that the path need not show.
  static Result<std::unique_ptr<ResultsWriter>> Create(
      std::string path, std::vector<std::string> runner_names, ResultsFormat format,
      PartialFolder::Earlier earlier = PartialFolder::Earlier::kRenamed, PartialOrigin origin = {});

  /// Where earlier outputs stand at PATH, or wait in parts beside it, and are to be replaced: none
  /// of them is touched before Publish(). A folder of iterations is made as PATH.resumed and
  /// changes places with PATH at the end. PATH must not end in a slash.
  static Result<std::unique_ptr<ResultsWriter>> CreateBeside(std::string path,
                                                             std::vector<std::string> runner_names,
                                                             PartialOrigin origin = {});

  /// Without Publish() the parts stay where they are if they hold any iteration.
  ~ResultsWriter();
  ResultsWriter(const ResultsWriter&) = delete;
  ResultsWriter& operator=(const ResultsWriter&) = delete;

  /// Adds the next iteration of one runner; runners may be at different iterations. After an error
  /// (kIo, when the disk is full) every later call returns it too, and what was added before can
  /// still be published.
  /// `feed`: MarkFeed() of what the result was made from, where that is known.
  Status Append(size_t runner, const IterationResult& result,
                std::optional<uint64_t> feed = std::nullopt);

  /// Adds a line to the parts' journal, for a run that continues them. kIo.
  Status Record(std::string_view line) { return folder_.Record(line); }

  /// How the steps of a runner were fed: a text that readers give back (SavedRun::steps). JSON,
  /// which is Polygraphy's, does not keep it. Empty: nothing is noted. kIo.
  Status NoteSteps(size_t runner, const std::string& text);

  size_t finished(size_t runner) const { return finished_[runner]; }

  /// Iterations that all runners have finished.
  size_t CommonIterations() const;

  /// Publishes CommonIterations() iterations of every runner and removes the parts. On error (kIo)
  /// PATH is as it was and the parts stay. At most one Publish may succeed.
  Status Publish() { return Publish(CommonIterations()); }

  /// Publishes what each runner has, but at most `max_iterations` of each: with the count of those
  /// still alive, say, the iterations of a runner that died early are kept as far as they go.
  Status Publish(size_t max_iterations);

  /// The same of a copy, whose source is still there: on error nothing of it is left beside PATH.
  Status PublishOrDiscard(size_t max_iterations);

  /// Removes what was made, whatever it holds; PATH keeps what it had. Nothing may be called
  /// afterwards.
  void Discard();

  /// Where the parts of an earlier run that was cut off were moved; empty when there were none.
  const std::string& stale_partial() const { return folder_.stale(); }
  const std::string& path() const { return path_; }

  /// Whether PATH has been made of the parts, or they were discarded.
  bool published() const { return published_; }

  /// Where the parts are.
  const std::string& partial_path() const { return folder_.path(); }

 private:
  ResultsWriter(std::string path, std::vector<std::string> runner_names, PartialFolder folder);
  Status AppendToPart(size_t runner, const IterationResult& result, std::optional<uint64_t> feed);
  Status TryToPublish(size_t max_iterations);

  std::string path_;
  std::string replaced_;  // the folder that PATH is to be; empty where that is PATH itself
  std::vector<std::string> runner_names_;
  std::vector<size_t> finished_;
  PartialFolder folder_;
  std::unique_ptr<ResultsEncoder> encoder_;
  Status broken_;
  bool published_ = false;
};

}  // namespace vernier
