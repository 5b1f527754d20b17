// Saved outputs that take part in a run: each saved runner is a stream of iterations.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/results/results_reader.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Whether JSON files of saved inputs are taken too, or refused in Polygraphy's words.
enum class LoadRule : uint8_t { kOutputs, kAnything };

class SavedRuns {
 public:
  /// Opens every file or folder; tensors are read one iteration at a time. An empty folder is a run
  /// without iterations. A run whose file names no runner is called as the file. A path with a
  /// label, where it has one in `labels`, gives its run that name, and several runs
  /// "LABEL: NAME".
  static Result<SavedRuns> Open(const std::vector<std::string>& paths, LoadRule rule,
                                const std::vector<std::string>& labels = {});
  /// The same of a plan. kMalformed where the iterations of a folder have a gap, or those of a file
  /// do not begin with 0, so that what is compared would be of different feeds: unless such folders
  /// or files, of the same numbers, are all there is, the runners' inputs among them, or the plan
  /// is lenient and not strict.
  static Result<SavedRuns> Open(const RunPlan& plan, LoadRule rule);

  struct Run {
    std::string name;
    std::string path;
    int64_t iterations = 0;
    bool positional = false;  ///< see SavedTensors
    bool labelled = false;    ///< its name is that of the command line
    uint64_t first = 0;       ///< number that its file gives to the first iteration
    std::string steps = {};   ///< DescribeFeeding(); empty: of no steps, or not known
  };
  const std::vector<Run>& runs() const { return runs_; }

  /// Whether two runs are the same iterations of the same file, which agree whatever they hold.
  bool AreTheSame(size_t a, size_t b) const;

  /// The first iteration, without an announcement.
  Result<IterationResult> Peek(size_t run) {
    return places_[run].reader->Read(places_[run].run, 0);
  }

  /// MarkFeed() of what an iteration was made from: of the first run that knows it. JSON files do
  /// not.
  std::optional<uint64_t> FeedOf(int64_t iteration) const;
  /// The same of one run.
  std::optional<uint64_t> FeedOf(size_t run, int64_t iteration) const;

  /// The steps of each sequence of a run, of outputs that were saved by one with steps: iterations
  /// that were made from one feed. Sequences of equal feeds count as one. Empty if that is
  /// unknown, or all have a feed of their own.
  std::vector<int64_t> StepsOf(size_t run) const;

  /// Whether the files are still what was read. kMalformed, naming one that is not: what was made
  /// of its tensors must not be believed.
  Status CheckIntact() const;

  /// The first read of a path is announced in the log.
  Result<IterationResult> Read(size_t run, int64_t iteration, Logger& logger);

 private:
  struct Place {
    std::shared_ptr<ResultsReader> reader;
    size_t run = 0;
    bool announces = false;
  };
  std::vector<Run> runs_;
  std::vector<Place> places_;
};

}  // namespace vernier
