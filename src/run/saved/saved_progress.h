// What an earlier run of the same command had saved, for --resume.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/results/partial_folder.h"
#include "io/results/results_reader.h"
#include "run/saved/earlier_sources.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Of every runner the first iterations: they need not be made again. The first and the last of
/// them are, and must come out the same, and every feed must be what it was where that was saved:
/// so another model, seed or input is noticed. What parts promise and cannot be read (the machine
/// lost power) is made again as well; a warning says so once. Nothing that was saved is touched but
/// by Remove(), and parts of which nothing can be read are not even by that.
class SavedProgress {
 public:
  /// Looks at the place itself, which a run that was interrupted or failed has published, and at
  /// the parts beside it, which runs that were killed have left; takes of each runner what holds
  /// most iterations. Null when nothing was saved. kMalformed when what stands there is in use,
  /// cannot be read, or is of other runners or another seed (if inputs are drawn from one), parts
  /// have other --batch-feeds, or a run of steps finds what does not say its steps.
  static Result<std::unique_ptr<SavedProgress>> Find(const RunPlan& plan,
                                                     const std::vector<std::string>& runners,
                                                     const PartialOrigin& origin, Logger& logger);

  /// Iterations of a runner that are there.
  int64_t iterations(size_t runner) const;
  int64_t most_iterations() const;

  /// Whether the runner's result of an iteration is to be taken from here. Of parts it is read now,
  /// and kept for Take().
  bool Has(size_t runner, int64_t iteration);
  /// kMalformed when it is damaged, in a file that was saved whole.
  Result<IterationResult> Take(size_t runner, int64_t iteration);

  /// This run has so many iterations, where that is known beforehand.
  void Expect(std::optional<int64_t> iterations) { expected_ = iterations; }

  /// Whether an iteration that is here is made again all the same, for Check: the first, and the
  /// last that is taken.
  bool IsSample(size_t runner, int64_t iteration) const;
  /// kMalformed when what was made now is not what was saved.
  Status Check(size_t runner, int64_t iteration, const IterationResult& made);
  /// kMalformed, naming the file: why an iteration that was taken gives the next step no state
  /// ("gave no output ...").
  Status CannotContinue(size_t runner, int64_t iteration, const Status& why);

  /// kMalformed when an iteration that is here was made from another feed, or by other steps
  /// (HashOfSteps). Not known of JSON files.
  Status CheckFeed(int64_t iteration, uint64_t hash, bool in_steps);

  /// What is here was computed with, as far as parts say it: a shard must not go on with others
  /// (kMalformed), since `merge` could not tell. Any other run must not with other modules, and is
  /// warned of all else.
  Status CheckMadeWith(const std::vector<JournalSource>& now);
  const std::vector<JournalSource>& made_with() const { return made_with_.all(); }

  /// kMalformed. This command is not the one that saved what is here, which is to stay.
  Status Refuse(const std::string& why);

  /// What is to become of what was saved when a run ends.
  enum class End : uint8_t {
    kReplaced,       ///< the new file has all of it
    kKept,           ///< and what the run has made is worth nothing
    kKeptWithParts,  ///< and so are the parts that the run has made: they go further
  };
  /// `finished`: what the run has made of each runner, of which at most `published` would be in the
  /// new file. However the run ended, this decides.
  End DecideEnd(std::span<const size_t> finished, size_t published) const;

  /// Removes the parts that the new file holds as well. Only for when that has been published.
  void Remove();

  /// Where it was found: the place that has most.
  const std::string& place() const { return sources_.front().path; }
  /// The path of the plan, without slashes at its end.
  const std::string& target() const { return target_; }

  /// For records: how much of each runner was taken from here.
  std::vector<std::string> Notes() const;

 private:
  struct Source {
    std::string path;
    std::pair<dev_t, ino_t> identity;
    std::unique_ptr<ResultsReader> reader;
    std::vector<size_t> ends;  // of each runner, behind the last iteration that can be read
    std::string why;           // of the first that cannot be
    int64_t total = 0;
  };

  // Of a runner, what Has() looked at last.
  struct Looked {
    int64_t iteration = -1;
    bool readable = false;
    std::optional<IterationResult> result;
  };

  explicit SavedProgress(Logger& logger) : logger_(logger) {}
  Status Collect();
  Status Open(Source& source);
  void FindEnds(Source& source);
  void WarnOfParts(const Source& source) const;
  bool IsParts(const Source& source) const { return source.path != target_; }
  void MakeAgain(size_t runner, const Source& source, const Status& why);
  Status CheckRunners() const;
  Status CheckWhole(const RunPlan& plan);
  Status CheckOrigin(const PartialOrigin& own);
  Status CheckSteps(const RunPlan& plan);
  bool PartsKnowSteps(const Source& source, size_t runner) const;
  void Choose();
  Source& SourceOf(size_t runner) { return sources_[from_[runner]]; }
  Status Damaged(const Source& source, const Status& status);
  Status NotOfThisCommand(const Source& source, size_t runner, int64_t iteration,
                          const std::string& what);

  Logger& logger_;
  std::string target_;
  std::vector<std::string> runners_;
  std::vector<Source> sources_;  // the one with most iterations first
  std::vector<size_t> from_;     // the best source for each runner
  std::vector<Source> empty_;    // parts without an iteration
  std::vector<int64_t> taken_;   // iterations of each runner
  std::vector<int64_t> again_;   // those that had to be made again
  std::vector<Looked> looked_;
  EarlierSources made_with_;
  std::optional<int64_t> expected_;
  bool of_shard_ = false;
  bool refused_ = false;
  bool warned_of_bits_ = false;
};

/// Whether the saved runs are of these runners, whatever time is in their names.
bool SameRunners(const std::vector<SavedRun>& saved, const std::vector<std::string>& runners);

/// Whether both, of the same runners, begin with the same outputs.
bool BeginAlike(ResultsReader& a, ResultsReader& b);

}  // namespace vernier
