// What an earlier run of the same command had saved, for --resume.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/results_reader.h"
#include "util/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Of every runner the first iterations: they need not be made again. The first and the last of
/// them are, and must come out the same: so another model, seed or input is noticed.
class SavedProgress {
 public:
  /// Looks at the place itself, which a run that was interrupted or failed has published, and at
  /// the parts beside it, which one that was killed has left; takes what holds most iterations.
  /// Folders of per-iteration files, which cannot be added to, are renamed: to PATH.earlier. Null
  /// when nothing was saved. kMalformed when what stands there is in use, cannot be read, or is of
  /// other runners.
  static Result<std::unique_ptr<SavedProgress>> Find(const SavePlan& plan,
                                                     const std::vector<std::string>& runners,
                                                     Logger& logger);

  /// Iterations of a runner that are there.
  int64_t iterations(size_t runner) const;
  int64_t most_iterations() const;

  /// Whether the runner's result of an iteration is to be taken from here.
  bool Has(size_t runner, int64_t iteration) const;
  Result<IterationResult> Take(size_t runner, int64_t iteration);

  /// Whether an iteration that is here is made again all the same, for Check.
  bool IsSample(size_t runner, int64_t iteration) const;
  /// kMalformed when what was made now is not what was saved.
  Status Check(size_t runner, int64_t iteration, const IterationResult& made);

  /// Removes what the new file holds as well. Only for when that has been published.
  void Remove();

  const std::string& place() const { return place_; }

 private:
  struct Candidate;

  SavedProgress() = default;
  static Result<std::vector<Candidate>> Collect(const std::string& path, Logger& logger);
  Status CheckRunners() const;
  void NoteOthers(std::vector<Candidate>& candidates);

  std::string target_;
  std::string place_;  // where it was found
  std::vector<std::string> runners_;
  std::unique_ptr<ResultsReader> reader_;
  std::vector<std::pair<dev_t, ino_t>> superseded_;  // folders that the new file replaces
};

/// A runner's name without the time that unnamed ones are given: the same for each run of a
/// command.
std::string WithoutTime(const std::string& name);

}  // namespace vernier
