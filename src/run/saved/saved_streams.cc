#include "run/saved/saved_streams.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "io/bytes/checksum.h"
#include "io/results/feed_reader.h"
#include "record/schema/runner_name.h"
#include "record/schema/side_names.h"
#include "run/saved/result_origin.h"
#include "run/saved/saved_progress.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

// The outputs of the first runner that has made some, in the order of its model.
std::vector<std::string> LiveNames(const IterationOutputs& outputs) {
  std::vector<std::string> names;
  for (const std::optional<IterationResult>& side : outputs) {
    if (!side) continue;
    for (const NamedTensor& output : side->outputs) names.push_back(output.name);
    break;
  }
  return names;
}

// Saved outputs of two runs with steps: no sequence may begin in one of them alone.
Status CheckSequences(const SavedRuns& runs) {
  const std::vector<int64_t> first = runs.runs().empty() ? std::vector<int64_t>() : runs.StepsOf(0);
  for (size_t i = 1; i < runs.runs().size() && !first.empty(); ++i) {
    // Such pairs are not compared: WhyOtherSteps().
    if (CutIterations(runs.runs()[i].steps) != CutIterations(runs.runs()[0].steps)) continue;
    const std::vector<int64_t> other = runs.StepsOf(i);
    for (size_t k = 0; k + 1 < std::min(first.size(), other.size()); ++k) {
      if (first[k] == other[k]) continue;
      return Malformed("--load-outputs: sequence " + std::to_string(k) + " has " +
                       Counted(first[k], "step") + " in '" + runs.runs().front().path + "' and " +
                       Counted(other[k], "step") + " in '" + runs.runs()[i].path +
                       "', so the sequences after it would be compared with other steps; save both "
                       "with the same --steps and inputs");
    }
  }
  return {};
}

// The last part of a path, also of "folder/".
std::string NameOfFile(const std::string& path) {
  const std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
  return (normal.has_filename() ? normal : normal.parent_path()).filename().string();
}

}  // namespace

Result<SavedStreams> SavedStreams::Open(const RunPlan& plan, std::vector<std::string> live,
                                        Logger& logger) {
  const LoadRule rule = plan.inputs_as_outputs ? LoadRule::kAnything : LoadRule::kOutputs;
  VERNIER_ASSIGN_OR_RETURN(SavedRuns runs, SavedRuns::Open(plan, rule));
  if (!plan.lenient) VERNIER_TRY(CheckSequences(runs));
  return SavedStreams(plan, std::move(live), std::move(runs), logger);
}

Result<bool> SavedStreams::Append(int64_t iteration, IterationOutputs& outputs) {
  // A side that has nothing at all holds up no other: the verdict names it.
  const bool any =
      std::ranges::any_of(runs(), [](const SavedRuns::Run& run) { return run.iterations > 0; });
  const auto is_empty = [&](const SavedRuns::Run& run) {
    return any && !plan_->lenient && run.iterations == 0;
  };
  std::vector<size_t> exhausted;
  for (size_t i = 0; i < runs().size(); ++i) {
    const bool ended = iteration >= runs()[i].iterations && !is_empty(runs()[i]);
    if (ended) exhausted.push_back(outputs.size() + i);
  }
  VERNIER_TRY(CheckUnevenFile(iteration));
  if (!exhausted.empty() || (outputs.empty() && runs().empty())) {
    const auto empty = static_cast<size_t>(std::ranges::count_if(runs(), is_empty));
    WarnOfExhaustion(iteration, exhausted, outputs.size() + runs().size() - empty);
    return false;
  }
  for (size_t i = 0; i < runs().size(); ++i) {
    if (is_empty(runs()[i])) {
      outputs.emplace_back();
      continue;
    }
    VERNIER_ASSIGN_OR_RETURN(IterationResult result, runs_.Read(i, iteration, *logger_));
    if (runs()[i].positional) {
      const std::string remark = NameByPosition(LiveNames(outputs), result.outputs);
      if (!remark.empty()) logger_->Once(Severity::kWarning, "--load-outputs: " + remark);
    }
    outputs.emplace_back(std::move(result));
  }
  return true;
}

void SavedStreams::NoteLiveFeed(int64_t iteration, uint64_t mark, std::optional<uint32_t> state) {
  const auto index = static_cast<size_t>(iteration);
  if (runs().empty()) return;
  if (live_feeds_.size() <= index) live_feeds_.resize(index + 1);
  live_feeds_[index] = mark;
  live_states_.resize(live_feeds_.size());
  live_states_[index] = state;
}

Status SavedStreams::CheckStepCount(std::optional<int64_t> steps, bool goes_on) {
  for (size_t i = 0; i < saved_steps_.size() && steps; ++i) {
    const SavedRuns::Run& run = runs()[i];
    const bool fits = goes_on ? run.iterations >= *steps : run.iterations == *steps;
    if (!saved_steps_[i].empty() || fits) continue;
    has_other_steps_ = true;
    return Malformed(
        "--load-outputs: '" + run.path + "' has " + Counted(run.iterations, "iteration") + " of " +
        run.name + ", and this run " +
        (goes_on ? "more than " + Counted(*steps - 1, "step") : Counted(*steps, "step")) +
        " over all sequences: which step an iteration is, is not known; give the "
        "--steps and the inputs that it was saved with");
  }
  return {};
}

// A mark says which words it was made with only to whoever tries them.
Status SavedStreams::CheckStop() const {
  constexpr int64_t kMostTokens = int64_t{1} << 20;  // of a vocabulary
  const StepPlan& steps = plan_->steps;
  const uint64_t feed = live_feeds_.front() ^ HashOfSteps(steps);
  for (size_t i = 0; i < runs().size() && steps.decodes(); ++i) {
    const std::optional<uint64_t> saved = runs_.FeedOf(i, 0);
    if (!saved || *saved == live_feeds_.front()) continue;
    StepPlan other = steps;
    for (int64_t stop = -1; stop < kMostTokens; ++stop) {
      other.decode_stop = stop < 0 ? std::nullopt : std::optional(stop);
      if ((feed ^ HashOfSteps(other)) != *saved) continue;
      const auto in_words = [](const std::optional<int64_t>& token) {
        return token ? "--decode-stop " + std::to_string(*token) : std::string("no --decode-stop");
      };
      return Malformed("--load-outputs: '" + runs()[i].path + "' was saved with " +
                       in_words(other.decode_stop) + ", and this run has " +
                       in_words(steps.decode_stop) +
                       ": after the token that ends a sequence other tokens are fed; give what it "
                       "was saved with, or save it again");
    }
  }
  return {};
}

Status SavedStreams::CheckStep(int64_t iteration, const StepTimeline& timeline) const {
  const auto index = static_cast<size_t>(iteration);
  if (index >= live_feeds_.size()) return {};
  if (iteration == 0) return CheckStop();
  const bool begins = timeline.Of(iteration).step == 0;
  // Where one sequence is like the one before it, nothing distinguishes them.
  if (begins && live_feeds_[index] == live_feeds_[index - 1]) return {};
  if (begins) WarnOfUnknownSteps();
  const StepPosition before = timeline.Of(iteration - 1);
  for (size_t i = 0; i < saved_steps_.size(); ++i) {
    int64_t end = 0, steps = 0;  // of the saved sequence that the iteration before is of
    for (size_t k = 0; k < saved_steps_[i].size() && end < iteration; ++k) {
      steps = saved_steps_[i][k];
      end += steps;
    }
    if (end < iteration || (end == iteration) == begins) continue;
    return Malformed("--load-outputs: '" + runs()[i].path +
                     "' was saved with other steps: it has " + Counted(steps, "step") +
                     " in sequence " + std::to_string(before.sequence) + ", and this run " +
                     std::to_string(before.steps) +
                     ", so after that other steps would be compared; give the --steps that it was "
                     "saved with, or save it again");
  }
  return {};
}

void SavedStreams::WarnOfUnknownSteps() const {
  for (size_t i = 0; i < saved_steps_.size(); ++i) {
    if (!saved_steps_[i].empty()) continue;
    logger_->Once(Severity::kWarning,
                  "--load-outputs: '" + runs()[i].path +
                      "' does not say where its sequences begin: they are taken to be as long as "
                      "those of this run (a .npz or .safetensors file says it)");
  }
}

// A length is said with --steps, or left to slices and tokens; a mark is made with the words.
void SavedStreams::NoteOtherCounts() {
  for (const std::vector<int64_t>& lengths : saved_steps_) {
    std::vector<uint64_t>& hashes = other_counts_.emplace_back();
    StepPlan other = plan_->steps;
    other.steps = std::nullopt;
    hashes.push_back(HashOfSteps(other) ^ HashOfSteps(plan_->steps));
    if (lengths.empty()) continue;
    other.steps = lengths.front();
    hashes.push_back(HashOfSteps(other) ^ HashOfSteps(plan_->steps));
  }
}

uint64_t SavedStreams::AsOfThisCount(size_t run, uint64_t saved, uint64_t live) const {
  const auto comparable = [live](uint64_t mark) {
    return mark == live || AreOfOtherValues(mark, live);
  };
  if (comparable(saved) || run >= other_counts_.size()) return saved;
  for (const uint64_t hash : other_counts_[run]) {
    if (comparable(saved ^ hash)) return saved ^ hash;
  }
  return saved;
}

FeedMarks SavedStreams::FeedMarksOf(int64_t iteration) const {
  if (!FeedOf(iteration)) return {};
  const auto index = static_cast<size_t>(iteration);
  const bool known = index < live_feeds_.size();
  FeedMarks marks(live_.size(), known ? std::optional(live_feeds_[index]) : std::nullopt);
  for (size_t i = 0; i < runs().size(); ++i) {
    std::optional<uint64_t> saved = runs_.FeedOf(i, iteration);
    if (saved && steps_hashes_[i] != 0) {
      saved = *saved ^ steps_hashes_[i] ^ HashOfSteps(plan_->steps);
    } else if (saved && known) {
      saved = AsOfThisCount(i, *saved, live_feeds_[index]);
    }
    marks.push_back(saved);
  }
  return marks;
}

void SavedStreams::WarnOfOtherInputs(const std::string& why) {
  if (!std::exchange(warned_of_inputs_, true)) logger_->Warning(why);
}

std::string SavedStreams::FileOf(size_t side) const {
  if (side < live_.size()) return "";
  const SavedRuns::Run& run = runs()[side - live_.size()];
  const std::string name = NameOfFile(run.path);
  bool ambiguous = false;
  size_t copy = 1;  // a file may be loaded more than once
  std::set<std::string> in_file;
  for (const SavedRuns::Run& other : runs()) {
    ambiguous |= other.path != run.path && NameOfFile(other.path) == name;
    if (other.path != run.path) continue;
    in_file.insert(other.name);
    copy += &other < &run && other.name == run.name ? 1 : 0;
  }
  // A label stands before the names of several runners already.
  if (run.labelled && in_file.size() > 1) return "";
  return (ambiguous ? run.path : name) + (copy > 1 ? " (" + std::to_string(copy) + ")" : "") +
         (in_file.size() > 1 ? ": " + WithoutTime(run.name) : "");
}

namespace {

// Unnamed runners of shards, and with --reproducible, are without the time that others have.
std::string WithTime(const std::string& name) {
  const std::string timed = name + "-01/01/70-00:00:00";
  return WithoutTime(timed) == name ? timed : name;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> SavedStreams::PairNames(
    const std::vector<std::pair<size_t, size_t>>& pairs) const {
  const auto name_of = [&](size_t side) {
    return side < live_.size() ? WithTime(live_[side]) : runs_.runs()[side - live_.size()].name;
  };
  RunRecord sides;
  for (const std::string& name : live_) sides.runners.emplace_back().name = WithTime(name);
  for (const auto& [first, second] : pairs) {
    PairRecord& pair = sides.pairs.emplace_back();
    pair.first = name_of(first);
    pair.second = name_of(second);
  }
  NameFiles(pairs, sides.pairs);
  std::vector<std::pair<std::string, std::string>> shown;
  for (const PairRecord& pair : WithSideNames(std::move(sides), NameStyle::kShort).pairs) {
    shown.emplace_back(pair.first, pair.second);
  }
  return shown;
}

void SavedStreams::NameFiles(const std::vector<std::pair<size_t, size_t>>& pairs,
                             std::vector<PairRecord>& records) const {
  for (size_t i = 0; i < std::min(pairs.size(), records.size()); ++i) {
    records[i].first_file = FileOf(pairs[i].first);
    records[i].second_file = FileOf(pairs[i].second);
  }
}

std::vector<std::pair<size_t, std::string>> SavedStreams::SelfComparisons(
    const std::vector<std::pair<size_t, size_t>>& pairs) const {
  std::vector<std::pair<size_t, std::string>> same;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto [first, second] = pairs[i];
    if (std::min(first, second) < live_.size()) continue;
    const size_t a = first - live_.size(), b = second - live_.size();
    if (runs_.AreTheSame(a, b)) same.emplace_back(i, runs()[a].path);
  }
  return same;
}

// Polygraphy reads a file's runners in step, and gives up where one of them ends early.
Status SavedStreams::CheckUnevenFile(int64_t iteration) {
  if (!plan_->lenient || plan_->execution.sequential) return {};
  for (const SavedRuns::Run& a : runs()) {
    for (const SavedRuns::Run& b : runs()) {
      if (a.path != b.path || a.iterations > iteration || b.iterations <= iteration) continue;
      ended_unevenly_ = true;
      return UnevenFile(a.path, iteration);
    }
  }
  return {};
}

Status SavedStreams::UnevenFile(const std::string& path, int64_t iteration) const {
  std::vector<std::string> first = live_;
  std::vector<std::string> here = live_;
  for (const SavedRuns::Run& run : runs()) {
    first.push_back(run.name);
    if (run.iterations > iteration) here.push_back(run.name);
  }
  return NotFound("Streamed iteration " + std::to_string(iteration) +
                  " contains a different set of runners than the first (" + FormatPythonList(here) +
                  " vs. " + FormatPythonList(first) +
                  "). Every iteration must contain the same runners in the same order.\n"
                  "Note: The runners of '" +
                  path + "' have different numbers of iterations.");
}

void SavedStreams::WarnOfExhaustion(int64_t compared, const std::vector<size_t>& exhausted,
                                    size_t streams) {
  if (exhausted.empty() || exhausted.size() == streams) return;
  std::string list;
  for (const size_t index : exhausted) list += (list.empty() ? "" : ", ") + std::to_string(index);
  logger_->Once(Severity::kWarning,
                "The provided streams have different numbers of iterations. Only the first " +
                    std::to_string(compared) + " iteration(s) -- present in all " +
                    std::to_string(streams) + " streams -- were compared; stream(s) at index [" +
                    list + "] ran out first.");
}

}  // namespace vernier
