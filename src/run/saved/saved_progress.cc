#include "run/saved/saved_progress.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "compare/functions/comparator.h"
#include "compare/outputs/same_bits.h"
#include "io/bytes/checksum.h"
#include "io/bytes/directory_listing.h"
#include "io/results/iteration_directory.h"
#include "io/results/partial_folder.h"
#include "io/results/partial_places.h"
#include "io/results/partial_results.h"
#include "record/schema/runner_name.h"
#include "run/saved/left_parts.h"
#include "util/values/plural_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

std::pair<dev_t, ino_t> IdentityOf(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return {};
  return {info.st_dev, info.st_ino};
}

Result<std::unique_ptr<ResultsReader>> OpenSaved(const std::string& path) {
  if (!IsPartialFolder(path)) return ResultsReader::Open(path);
  VERNIER_ASSIGN_OR_RETURN(auto source, OpenPartialResults(path));
  return ResultsReader::Of(std::move(source));
}

// What differs, in a few words.
std::string DescribeDifference(const IterationComparison& comparison) {
  for (const OutputComparison& output : comparison.outputs) {
    if (!output.passed()) return "output '" + output.a_name + "' differs";
  }
  for (const auto* names : {&comparison.pairing.left_only, &comparison.pairing.right_only}) {
    if (!names->empty()) return "output '" + names->front() + "' is on one side only";
  }
  return "the outputs differ";
}

bool HoldsInputs(const std::string& partial) {
  const Result<PartialManifest> manifest = ReadPartialManifest(partial);
  return manifest.ok() && manifest->inputs;
}

}  // namespace

bool SameRunners(const std::vector<SavedRun>& saved, const std::vector<std::string>& runners) {
  return std::ranges::equal(saved, runners, [](const SavedRun& run, const std::string& name) {
    return WithoutTime(run.name) == WithoutTime(name);
  });
}

bool BeginAlike(ResultsReader& a, ResultsReader& b) {
  for (size_t i = 0; i < a.runs().size(); ++i) {
    if (a.runs()[i].iterations == 0 || b.runs()[i].iterations == 0) continue;
    const auto first = a.Read(i, 0), second = b.Read(i, 0);
    return first.ok() && second.ok() && SameBits(first->outputs, second->outputs);
  }
  return true;
}

Status SavedProgress::Collect() {
  std::vector<std::string> paths = PartsBeside(target_);
  const bool empty = IsDirectory(target_) && !HoldsFiles(target_);
  if (IsThere(target_) && !empty) paths.insert(paths.begin(), target_);
  for (const std::string& path : paths) {
    const bool parts = path != target_;
    if (parts && LacksJournal(path)) {
      logger_.Warning("--resume: '" + path + "' has lost its " + kJournalName +
                      ", without which its parts cannot be read; it is kept");
    }
    // Killed before anything was written.
    if (parts && !IsPartialFolder(path)) continue;
    if (parts && HoldsInputs(path)) continue;
    if (parts && IsPartialFolderInUse(path)) {
      return Malformed("--resume: '" + path + "' is in use: a run is saving there");
    }
    Source source{.path = path,
                  .identity = IdentityOf(path),
                  .reader = {},
                  .ends = {},
                  .why = {},
                  .total = 0};
    VERNIER_TRY(Open(source));
    if (parts) WarnOfParts(source);
    if (source.total > 0) {
      sources_.push_back(std::move(source));
    } else if (parts && source.why.empty()) {
      empty_.push_back(std::move(source));
    }
  }
  std::ranges::stable_sort(sources_, std::ranges::greater(), &Source::total);
  return {};
}

// What is left over has nothing to be read.
Status SavedProgress::Open(Source& source) {
  if (IsParts(source) && IsLeftOver(source.path)) return {};
  Result<std::unique_ptr<ResultsReader>> reader = OpenSaved(source.path);
  if (!reader.ok()) {
    return Refuse(reader.status().message() + "; move '" + source.path + "' away to start over");
  }
  source.reader = *std::move(reader);
  source.why = source.reader->Damage();
  for (const SavedRun& run : source.reader->runs()) source.ends.push_back(run.iterations);
  if (IsParts(source)) FindEnds(source);
  for (const size_t end : source.ends) source.total += static_cast<int64_t>(end);
  return {};
}

// After a power cut it is the end of the parts that is not on the disk.
void SavedProgress::FindEnds(Source& source) {
  for (size_t runner = 0; runner < source.ends.size(); ++runner) {
    for (size_t& end = source.ends[runner]; end > 0; --end) {
      const Status status = source.reader->Read(runner, end - 1).status();
      if (status.ok()) break;
      if (source.why.empty()) source.why = status.message();
    }
  }
}

void SavedProgress::WarnOfParts(const Source& source) const {
  if (source.why.empty()) return;
  logger_.Warning("--resume: " + source.why +
                  (source.total > 0
                       ? "; what cannot be read is made again"
                       : "; nothing in '" + source.path + "' can be read, and it is kept"));
}

Result<std::unique_ptr<SavedProgress>> SavedProgress::Find(const RunPlan& plan,
                                                           const std::vector<std::string>& runners,
                                                           const PartialOrigin& origin,
                                                           Logger& logger) {
  std::unique_ptr<SavedProgress> progress(new SavedProgress(logger));
  progress->target_ = WithoutTrailingSlashes(plan.save.outputs);
  progress->runners_ = runners;
  progress->of_shard_ = plan.shard.wanted();
  progress->taken_.resize(runners.size());
  progress->again_.resize(runners.size());
  progress->looked_.resize(runners.size());
  VERNIER_TRY(progress->Collect());
  VERNIER_TRY(progress->CheckWhole(plan));
  if (progress->sources_.empty()) {
    progress->Remove();
    logger.Info("--resume: nothing was saved at '" + plan.save.outputs +
                "' yet; starting with the first iteration");
    return std::unique_ptr<SavedProgress>();
  }
  VERNIER_TRY(progress->CheckRunners());
  progress->Choose();
  VERNIER_TRY(progress->CheckOrigin(origin));
  VERNIER_TRY(progress->CheckSteps(plan));
  std::string counts;
  for (size_t i = 0; i < runners.size(); ++i) {
    counts +=
        (counts.empty() ? "" : ", ") + runners[i] + ": " + std::to_string(progress->iterations(i));
  }
  logger.Info("--resume: continuing from '" + progress->place() + "'; saved iterations: " + counts +
              ". The first and the last are computed again, to verify that they are the"
              " same.");
  return progress;
}

// Parts of other commands may stand beside those of this one.
void SavedProgress::Choose() {
  ResultsReader& best = *sources_.front().reader;
  std::erase_if(sources_, [&](const Source& other) {
    if (other.reader.get() == &best) return false;
    return !SameRunners(other.reader->runs(), runners_) || !BeginAlike(best, *other.reader);
  });
  for (size_t runner = 0; runner < runners_.size(); ++runner) {
    const auto count = [&](const Source& source) { return source.ends[runner]; };
    const auto most = std::ranges::max_element(sources_, {}, count);
    from_.push_back(static_cast<size_t>(most - sources_.begin()));
  }
  for (const Source& source : sources_) {
    if (IsParts(source)) made_with_.Read(source.path);
  }
}

int64_t SavedProgress::iterations(size_t runner) const {
  return static_cast<int64_t>(sources_[from_[runner]].ends[runner]);
}

int64_t SavedProgress::most_iterations() const {
  int64_t most = 0;
  for (size_t i = 0; i < runners_.size(); ++i) most = std::max(most, iterations(i));
  return most;
}

bool SavedProgress::IsSample(size_t runner, int64_t iteration) const {
  const int64_t count = std::min(iterations(runner), expected_.value_or(iterations(runner)));
  return iteration >= 0 && iteration < count && (iteration == 0 || iteration == count - 1);
}

bool SavedProgress::Has(size_t runner, int64_t iteration) {
  if (iteration < 0 || iteration >= iterations(runner) || IsSample(runner, iteration)) return false;
  const Source& source = SourceOf(runner);
  if (!IsParts(source)) return true;
  Looked& looked = looked_[runner];
  if (looked.iteration == iteration) return looked.readable;
  Result<IterationResult> result = source.reader->Read(runner, static_cast<size_t>(iteration));
  looked = {.iteration = iteration, .readable = result.ok(), .result = std::nullopt};
  if (result.ok()) {
    looked.result = *std::move(result);
  } else {
    MakeAgain(runner, source, result.status());
  }
  return looked.readable;
}

Status SavedProgress::Refuse(const std::string& why) {
  refused_ = true;
  return Malformed("--resume: " + why);
}

Status SavedProgress::Damaged(const Source& source, const Status& status) {
  return Refuse(status.message() + "; move '" + source.path + "' away to start over");
}

// One warning is enough of all that a power cut took.
void SavedProgress::MakeAgain(size_t runner, const Source& source, const Status& why) {
  const bool warned =
      !source.why.empty() || std::ranges::any_of(again_, [](int64_t n) { return n > 0; });
  if (!warned)
    logger_.Warning("--resume: " + why.message() + "; what cannot be read is made again");
  ++again_[runner];
}

Result<IterationResult> SavedProgress::Take(size_t runner, int64_t iteration) {
  const Source& source = SourceOf(runner);
  Looked& looked = looked_[runner];
  const bool kept = looked.iteration == iteration && looked.result;
  Result<IterationResult> result =
      kept ? Result<IterationResult>(*std::exchange(looked.result, std::nullopt))
           : source.reader->Read(runner, static_cast<size_t>(iteration));
  if (!result.ok()) return Damaged(source, result.status());
  result->runner_name = runners_[runner];  // the time in it is that of this run
  ++taken_[runner];
  return result;
}

Status SavedProgress::NotOfThisCommand(const Source& source, size_t runner, int64_t iteration,
                                       const std::string& what) {
  return Refuse("'" + source.path + "' was not saved by this command: iteration " +
                std::to_string(iteration) + " of " + runners_[runner] + " " + what +
                ". Was it another model, another seed or were other inputs loaded? Move it away to "
                "start over");
}

Status SavedProgress::CannotContinue(size_t runner, int64_t iteration, const Status& why) {
  const std::string& path = SourceOf(runner).path;
  return Refuse("iteration " + std::to_string(iteration) + " of " + runners_[runner] + " in '" +
                path + "' " + why.message() + "; move '" + path + "' away to start over");
}

Status SavedProgress::Check(size_t runner, int64_t iteration, const IterationResult& made) {
  const Source& source = SourceOf(runner);
  const Result<IterationResult> saved = source.reader->Read(runner, static_cast<size_t>(iteration));
  if (!saved.ok() && IsParts(source)) {
    MakeAgain(runner, source, saved.status());
    return {};
  }
  if (!saved.ok()) return Damaged(source, saved.status());
  if (SameBits(saved->outputs, made.outputs)) return {};
  const IterationComparison comparison = CompareIteration(*saved, made, CompareOptions{}, {});
  const Pairing& pairing = comparison.pairing;
  const bool all = pairing.left_only.empty() && pairing.right_only.empty();
  if (all && comparison.passed()) {
    if (!std::exchange(warned_of_bits_, true)) {
      logger_.Warning("--resume: iteration " + std::to_string(iteration) + " agrees with '" +
                      source.path + "', but not bit for bit: was it another --batch-feeds?");
    }
    return {};
  }
  return NotOfThisCommand(source, runner, iteration,
                          "is another: " + DescribeDifference(comparison));
}

Status SavedProgress::CheckFeed(int64_t iteration, uint64_t hash, bool in_steps) {
  // All of them are removed in the end, not only those that results are taken from.
  for (const Source& source : sources_) {
    for (size_t runner = 0; runner < runners_.size(); ++runner) {
      const auto index = static_cast<size_t>(iteration);
      if (index >= source.ends[runner]) continue;
      if (AreOfOneFeed(source.reader->FeedOf(runner, index).value_or(hash), hash)) continue;
      return NotOfThisCommand(
          source, runner, iteration,
          in_steps ? "was made from other inputs or by other steps" : "was made from other inputs");
    }
  }
  return {};
}

SavedProgress::End SavedProgress::DecideEnd(std::span<const size_t> finished,
                                            size_t published) const {
  if (refused_) return End::kKept;
  bool everything = true, further = false;
  for (size_t i = 0; i < runners_.size(); ++i) {
    const auto saved = static_cast<size_t>(iterations(i));
    everything &= std::min(finished[i], published) >= saved;
    further |= finished[i] > saved;
  }
  if (everything) return End::kReplaced;
  return further ? End::kKeptWithParts : End::kKept;
}

void SavedProgress::Remove() {
  for (std::vector<Source>* sources : {&sources_, &empty_}) {
    for (Source& source : *sources) {
      source.reader = nullptr;
      // The target is the new file by now.
      if (source.path != target_ && IdentityOf(source.path) == source.identity) {
        RemoveParts(source.path, target_);
      }
    }
  }
}

std::vector<std::string> SavedProgress::Notes() const {
  std::vector<std::string> notes;
  if (!made_with_.warned().empty()) notes.push_back("--resume: " + made_with_.warned());
  for (size_t i = 0; i < runners_.size(); ++i) {
    if (again_[i] > 0) {
      notes.push_back(runners_[i] + ": " + Counted(again_[i], "iteration") + " in '" +
                      sources_[from_[i]].path + "' could not be read and " +
                      Verb(again_[i], "was", "were") + " made again");
    }
    if (taken_[i] == 0) continue;
    notes.push_back(runners_[i] + ": " + Counted(taken_[i], "iteration") +
                    Verb(taken_[i], ", and how long it took, is", ", and how long they took, are") +
                    " of an earlier run, taken from '" + sources_[from_[i]].path + "'");
  }
  return notes;
}

}  // namespace vernier
