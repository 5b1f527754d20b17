// What the outputs of a run decide, and what that means for its end.
#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "compare/error_bound.h"
#include "decide/worst_iterations.h"
#include "record/gate_text.h"
#include "run/comparison/comparison_run.h"
#include "run/run_scripts.h"
#include "run/shards/kept_labels.h"
#include "util/number_text.h"

namespace vernier {

// Decisions are about what runners gave, so that has to stay where it is post-processed. Empty: it
// is not.
IterationOutputs ComparisonRun::OutputsToDecide(const IterationOutputs& outputs) const {
  const PerOutput<TopK>& top = plan_->postprocess;
  const bool processed = scripts_.postprocessing != nullptr || top.fallback || !top.entries.empty();
  const bool wanted = processed && !plan_->decisions.decisions.empty();
  return wanted ? outputs : IterationOutputs();
}

void ComparisonRun::KeepTieBounds(PairErrorBounds* bounds) {
  if (!BoundsNearTies(*plan_) || bounds == nullptr) return;
  tie_bounds_ = bounds;
  tie_bounds_->KeepForNearTies();
}

Result<std::vector<DecisionRow>> ComparisonRun::DecidePair(Pair& pair, int64_t iteration,
                                                           const IterationOutputs& outputs,
                                                           const IterationComparison* comparison) {
  if (plan_->decisions.decisions.empty()) return std::vector<DecisionRow>();
  VERNIER_ASSIGN_OR_RETURN(
      MatchedSides sides,
      pair.matching.Match(*outputs[pair.first], *outputs[pair.second], detail_.device));
  FitWholeSequences(pair, sides);
  LeaveOutStates(pair, sides);
  const int64_t step = steps_ == nullptr ? 0 : steps_->timeline().Of(iteration).step;
  const auto bounds = [&]() -> const ErrorBounds& {
    return tie_bounds_->For(pair.first, pair.second, sides.a().outputs, sides.b().outputs,
                            sides.RenamedPairs());
  };
  const bool bounded = tie_bounds_ != nullptr && tie_bounds_->KnowsGraph(pair.first, pair.second);
  const PairErrorBounds* const of_pair = bounds_ != nullptr ? bounds_ : tie_bounds_;
  DecidedSides given{sides, comparison, detail_.device, scripts_.decisions, {}};
  if (bounded) given.bounds = bounds;
  if (of_pair != nullptr) given.firm = of_pair->AreFirm(pair.first, pair.second);
  VERNIER_ASSIGN_OR_RETURN(std::vector<ShardDecided> decided,
                           pair.decisions.Decide(iteration, given));
  if (shard_ != nullptr) {
    if (labels_ != nullptr) {
      label_keeper_.Keep(*labels_, plan_->decisions, iteration, sides, decided);
    }
    KeepExtras(decided);
    shard_->KeepDecisions(decided);
  }
  return pair.decisions.Fold(iteration, step, std::move(decided), &sides);
}

// What is fed back decides nothing for whoever uses the model, unless it is named or there is
// nothing else.
void ComparisonRun::LeaveOutStates(const Pair& pair, MatchedSides& sides) const {
  if (steps_ == nullptr) return;
  std::vector<OutputPair> kept;
  for (const OutputPair& outputs : sides.pairing.pairs) {
    const std::string& name = sides.a().outputs[outputs.a].name;
    const bool state = steps_->IsState(pair.first, name) ||
                       steps_->IsState(pair.second, sides.b().outputs[outputs.b].name);
    const auto& decisions = plan_->decisions.decisions;
    const bool named = std::ranges::find(decisions, name, &DecisionPlan::output) != decisions.end();
    if (!state || named) kept.push_back(outputs);
  }
  if (!kept.empty()) sides.pairing.pairs = std::move(kept);
}

bool ComparisonRun::KeepsFlips() const {
  return !plan_->decisions.save_flips.empty() || (plan_->blame && plan_->blame->on_flips);
}

// Feeds may be read ahead: the image is the one of this iteration, not the last. All steps of a
// sequence are made from one.
void ComparisonRun::NoteImage(int64_t iteration, int64_t place, const ImageFeeds* images) const {
  if (images == nullptr) return;
  const int64_t feed = steps_ == nullptr ? place : steps_->timeline().Of(place).sequence;
  const auto at = static_cast<size_t>(feed);
  if (at >= images->names().size()) return;  // then the sample has no label, which is said
  FedFile file = images->FileOf(feed);
  if (labels_ != nullptr) {
    labels_->NoteFile(iteration, file, steps_ != nullptr);
    labels_->NoteImage(iteration, {file.name, images->sizes()[at]}, images->recipe());
  }
  if (shard_ != nullptr) {
    shard_->NoteImage(*images, {file.name, labels_ == nullptr ? std::vector<ShardPlacement>()
                                                              : labels_->PlacementsOf(iteration)});
  }
  if (rows_ != nullptr && steps_ == nullptr) rows_->NoteFile(iteration, std::move(file));
}

void ComparisonRun::KeepFeed(const TensorMap& feed) {
  flip_feed_ = KeepsFlips() ? feed : flip_pictures_.ImagesOf(feed);
}

// The feed is let go of: its memory is wanted for the next one.
Status ComparisonRun::KeepFlips(int64_t iteration, const IterationOutputs& outputs) {
  const TensorMap feed = std::exchange(flip_feed_, {});
  if (flip_pictures_.wanted() && !feed.empty()) {
    std::vector<const WorstFlip*> worst;
    for (const Pair& pair : pairs_) pair.decisions.AddWorst(worst);
    flip_pictures_.Keep(iteration, feed, worst);
    if (shard_ != nullptr) {
      VERNIER_ASSIGN_OR_RETURN(std::vector<ShardPicture> drawn, flip_pictures_.DrawnOf(iteration));
      shard_->KeepPictures(std::move(drawn));
    }
  }
  if (!KeepsFlips()) return {};
  const std::vector<int64_t> worst = WorstIterations();
  if (plan_->decisions.save_flips.empty()) {
    return flips_.Keep(iteration, feed, {}, worst, detail_.device);
  }
  if (may_keep_ || std::ranges::find(worst, iteration) == worst.end()) {
    return flips_.Keep(iteration, feed, outputs, worst, detail_.device);
  }
  VERNIER_ASSIGN_OR_RETURN(const IterationOutputs copies, CopyOutputs(outputs));
  return flips_.Keep(iteration, feed, copies, worst, detail_.device);
}

std::vector<int64_t> ComparisonRun::WorstIterations() const {
  std::vector<int64_t> worst;
  for (const Pair& pair : pairs_) {
    std::ranges::move(pair.decisions.WorstIterations(), std::back_inserter(worst));
  }
  return worst;
}

Status ComparisonRun::SaveFlips(RunRecord& run) const {
  VERNIER_TRY(flip_pictures_.AddTo(run));
  return SaveFlipFiles(run);
}

namespace {

std::vector<DecisionRecord> AllDecisions(const RunRecord& run) {
  std::vector<DecisionRecord> decisions;
  for (const PairRecord& pair : run.pairs) {
    decisions.insert(decisions.end(), pair.decisions.begin(), pair.decisions.end());
  }
  return decisions;
}

// Iterations of the files have new numbers, from 0.
std::string IterationsInWords(const std::vector<int64_t>& iterations) {
  constexpr size_t kMost = 16;
  std::string text = iterations.size() == 1 ? "iteration " : "the iterations ";
  for (size_t i = 0; i < std::min(iterations.size(), kMost); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(iterations[i]);
  }
  if (iterations.size() > kMost) {
    text += " and " + std::to_string(iterations.size() - kMost) + " more";
  }
  return text + (iterations.size() > 1 ? ", the worst first" : "");
}

}  // namespace

// The part of a shard finds its flips by their iterations.
std::vector<int64_t> ComparisonRun::FlipsInOrder(const RunRecord& run) const {
  if (plan_->shard.wanted()) return flips_.iterations();
  constexpr size_t kAll = std::numeric_limits<size_t>::max();
  return flips_.iterations(WorstIterationsOf(AllDecisions(run), kAll));
}

Status ComparisonRun::SaveFlipFiles(RunRecord& run) const {
  const std::string path = PathOfShard(plan_->decisions.save_flips, plan_->shard);
  if (path.empty()) return {};
  if (flips_.empty()) {
    const auto decided = [](const PairRecord& pair) {
      return std::ranges::any_of(pair.decisions,
                                 [](const DecisionRecord& one) { return one.samples > 0; });
    };
    const std::string why = !run.error.empty()                        ? "the run was given up"
                            : std::ranges::any_of(run.pairs, decided) ? "no decision differs"
                                                                      : "nothing was decided";
    run.notes.push_back("--save-flips: " + why + ", and '" + path + "' was not written");
    return {};
  }
  // Sides that were all loaded came without their inputs.
  const bool has_inputs = !plan_->runners.empty();
  const std::vector<int64_t> order = FlipsInOrder(run);
  if (!plan_->shard.wanted()) {
    run.notes.push_back("--save-flips: '" + path + "' has " + IterationsInWords(order));
  }
  if (has_inputs) {
    VERNIER_TRY(flips_.Save(path, order));
    run.saved.emplace_back("inputs of flips", path);
  }
  const std::string outputs = has_inputs ? FlipOutputsPath(path) : path;
  std::vector<std::string> left_out;
  VERNIER_TRY(flips_.SaveOutputs(outputs, names_, order, left_out));
  run.saved.emplace_back("outputs of flips", outputs);
  if (!left_out.empty()) {
    run.notes.push_back("--save-flips: '" + outputs + "' leaves out " +
                        JoinWords(left_out, " and ") +
                        ": not all of these iterations have outputs of it");
  }
  return {};
}

Result<FlipInputs> ComparisonRun::FlipsToSearch(const RunRecord& run) const {
  // Each costs an inference of every batch of tensors.
  constexpr size_t kSearchedIterations = 4;
  if (!plan_->blame || !plan_->blame->on_flips) return FlipInputs();
  return flips_.Copy(WorstIterationsOf(AllDecisions(run), kSearchedIterations));
}

namespace {

// Scripts decide about all outputs.
constexpr auto kByScript = [](const auto& one) { return one.kind.starts_with("script:"); };

bool HasGate(const PairRecord& record, const std::string& output) {
  return std::ranges::any_of(record.decision_gates, [&](const DecisionGateRecord& gate) {
    return gate.output == output || kByScript(gate);
  });
}

}  // namespace

// A gate of some outputs says nothing of the others: unless --judge says so, their elements count.
// Of what was to be decided and could not be, that is the fault.
void ComparisonRun::JudgeUndecided(const Pair& pair, PairRecord& record, RunFaults& faults,
                                   std::vector<std::string>& sentences) const {
  const DecisionOptions& options = plan_->decisions;
  if (judge_ != JudgeRule::kDecisions || options.judge != JudgeRule::kUnsaid) return;
  if (WantsDecisions(*plan_) && std::ranges::none_of(record.decisions, kByScript)) return;
  for (const OutputTally& output : pair.recorder.tally().outputs()) {
    const bool named = std::ranges::find(options.decisions, output.name, &DecisionPlan::output) !=
                       options.decisions.end();
    const bool decided = std::ranges::find(record.decisions, output.name,
                                           &DecisionRecord::output) != record.decisions.end();
    if ((named && !decided) || HasGate(record, output.name)) continue;
    record.undecided_outputs.push_back(output.name);
    if (output.passed + output.not_verified == output.iterations) continue;
    faults.mismatch = true;
    sentences.push_back(pair.label() + ": output '" + output.name +
                        "' does not match, and no gate of a decision is about it (--judge "
                        "decisions only reports it)");
  }
}

// A rate of some samples says nothing of the rate of all.
void ComparisonRun::LeaveGatesToMerge(PairRecord& record, RunRecord& run) const {
  record.decision_gates.clear();
  if (judge_ == JudgeRule::kDecisions) record.judged_by = kJudgedByMerge;
  if (!plan_->decisions.has_gates() && plan_->decisions.labels.empty()) return;
  const std::string note =
      "--shard: gates of decisions and labels are about all samples, and `vernier merge` judges "
      "them";
  if (std::ranges::find(run.notes, note) == run.notes.end()) run.notes.push_back(note);
}

// What may make agreement or figures mean nothing.
void ComparisonRun::JudgeDoubts(const Pair& pair, const PairRecord& record, const NotHeld& not_held,
                                RunRecord& run) const {
  const auto note = [&run](const std::string& sentence) {
    if (std::ranges::find(run.notes, sentence) == run.notes.end()) run.notes.push_back(sentence);
  };
  if (labels_ != nullptr) {
    for (const std::string& sentence : labels_->Notes()) note(sentence);
  }
  std::vector<std::string> doubts = pair.decisions.Doubts();
  for (const DecisionRecord& decision : record.decisions) {
    for (const std::string& doubt : DoubtsOf(decision)) {
      doubts.push_back(DecisionName(decision.kind, decision.output) + " " + doubt);
    }
  }
  for (const std::string& doubt : doubts) {
    plan_->strict ? not_held("--strict: " + doubt) : note(pair.label() + ": " + doubt);
  }
}

// Of every flip that is named.
void ComparisonRun::PlaceFlips(PairRecord& record) const {
  if (steps_ == nullptr) return;
  const auto place = [this](auto& flip) {
    flip.sequence = steps_->timeline().Of(flip.iteration).sequence;
  };
  for (DecisionRecord& decision : record.decisions) {
    if (decision.first_flip) place(*decision.first_flip);
    for (WorstFlip& flip : decision.worst) place(flip);
  }
}

// What was not decided is not done, whatever the exit code rests on.
void ComparisonRun::JudgeDecisions(const Pair& pair, PairRecord& record, Coverage coverage,
                                   RunFaults& faults, RunRecord& run) {
  if (plan_->decisions.decisions.empty()) return;
  record.judged_by = JudgeName(judge_);
  pair.decisions.AddTo(record);
  PlaceFlips(record);
  if (shard_ != nullptr) {
    JudgeUndecided(pair, record, faults, run.rejections);
    return LeaveGatesToMerge(record, run);
  }
  // Of a run that was given up, what is missing follows from why it was.
  const auto not_done = [&](const std::string& sentence) {
    if (coverage == Coverage::kIgnored) return;
    faults.incomplete = true;
    run.faults.push_back(pair.label() + ": " + sentence);
  };
  // What rows need not carry.
  const auto not_held = [&](const std::string& sentence, std::vector<std::string>& of_rules) {
    not_done(sentence);
    of_rules.push_back(pair.label() + ": " + sentence);
  };
  for (const std::string& sentence : pair.decisions.Missing()) not_done(sentence);
  for (const std::string& fault : pair.decisions.UnfitLabels()) not_held(fault, label_faults_);
  for (const std::string& fault : pair.decisions.IdleGates()) not_held(fault, gate_faults_);
  JudgeDoubts(
      pair, record, [&](const std::string& doubt) { not_held(doubt, gate_faults_); }, run);
  JudgeUndecided(pair, record, faults, run.rejections);
  for (const DecisionGateRecord& gate : record.decision_gates) {
    const bool judged = judge_ != JudgeRule::kElements;
    const std::string sentence = pair.label() + ": " + GateInWords(gate);
    if (gate.verdict == kGateWithoutSamples) {
      not_held(GateInWords(gate), gate_faults_);
    } else if (judged && GateIsMissed(gate)) {
      faults.mismatch = true;
      run.rejections.push_back(sentence);
    } else if (judged && gate.undecided && plan_->strict) {
      not_held("--strict: " + GateInWords(gate), gate_faults_);
    } else if (!judged && GateIsMissed(gate)) {
      run.notes.push_back(sentence + ": reported only (--judge elements)");
    }
  }
}

}  // namespace vernier
