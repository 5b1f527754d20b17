#include "run/phases/sides.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "model/onnx/model_type.h"
#include "model/onnx/onnx_model.h"
#include "model/pairs/structural_pairs.h"
#include "run/comparison/comparison_run.h"
#include "run/comparison/output_names.h"
#include "run/phases/deciding.h"
#include "run/saved/step_feeding.h"
#include "vernier/part_names.h"

namespace vernier {

namespace {

// Shards would find it out one by one, when they have done their work.
Status CheckEvenSides(const std::vector<SavedRuns::Run>& runs) {
  for (const SavedRuns::Run& run : runs) {
    if (run.iterations == runs.front().iterations) continue;
    return Malformed("--shard: '" + run.path + "' holds " + std::to_string(run.iterations) +
                     " iterations of '" + run.name + "', and '" + runs.front().path + "' " +
                     std::to_string(runs.front().iterations) + " of '" + runs.front().name +
                     "': shards need the same number on every side");
  }
  return {};
}

// Pairs of tensors that two models have in common, where equal names mean others.
std::vector<KnownPair> PairsByStructure(const ModelPlan& first, const ModelPlan& second) {
  const std::string_view onnx = ModelTypeName(ModelType::kOnnx);
  if (first.type != onnx || second.type != onnx || first.path == second.path) return {};
  const Result<OnnxModel> ours = OnnxModel::Open(first.path);
  const Result<OnnxModel> theirs = OnnxModel::Open(second.path);
  // Opening the runner says what is wrong.
  if (!ours.ok() || !theirs.ok()) return {};
  std::vector<KnownPair> pairs;
  for (const auto& [b, a] : PairByStructure(*ours, *theirs)) {
    const PairedBy how = a == b ? PairedBy::kExact : PairedBy::kStructure;
    pairs.push_back({std::string(a), std::string(b), how});
  }
  // Those that no node makes.
  for (const TensorInfo& output : pairs.empty() ? std::vector<TensorInfo>() : ours->Outputs()) {
    pairs.push_back({output.name, output.name, PairedBy::kExact});
  }
  return pairs;
}

void PairMarkedByStructure(const InferenceScheduler& live, ComparedPairs& compared,
                           Logger& logger) {
  for (ComparedPair& pair : compared.pairs) {
    if (std::max(pair.first, pair.second) >= live.size()) continue;
    std::vector<KnownPair> known =
        PairsByStructure(live[pair.first].plan().model, live[pair.second].plan().model);
    if (known.empty()) continue;
    logger.Info(pair.label() +
                ": the same names mean other tensors in the two graphs, so tensors are paired by "
                "what their nodes compute");
    pair.matching.TakeKnown(std::move(known));
  }
}

}  // namespace

Status CheckSavedCounts(const SavedStreams& loaded, int64_t total) {
  for (const SavedRuns::Run& run : loaded.runs()) {
    if (run.iterations == total) continue;
    return Malformed("--shard: '" + run.path + "' holds " + std::to_string(run.iterations) +
                     " iterations of '" + run.name + "', and the run has " + std::to_string(total) +
                     ": shards need the same number on every side");
  }
  return {};
}

Result<RunSides> OpenSides(const RunPlan& plan, const InferenceScheduler& live, Logger& logger) {
  std::vector<std::string> names = live.names();
  VERNIER_ASSIGN_OR_RETURN(SavedStreams loaded, SavedStreams::Open(plan, names, logger));
  for (const SavedRuns::Run& run : loaded.runs()) names.push_back(run.name);
  if (plan.shard.wanted()) VERNIER_TRY(CheckEvenSides(loaded.runs()));
  std::vector<std::string> formats;
  for (size_t i = 0; i < live.size(); ++i) formats.push_back(live[i].plan().model.type);
  VERNIER_ASSIGN_OR_RETURN(ComparedPairs pairs,
                           ComparedPairs::Find(plan, std::move(names), live.any_marked(), formats));
  pairs.NamePairs(loaded.PairNames(pairs.places()));
  if (live.any_marked() && !plan.lenient) PairMarkedByStructure(live, pairs, logger);
  return RunSides{std::move(loaded), std::move(pairs)};
}

Result<std::unique_ptr<RowWriter>> OpenRows(const RunPlan& plan, const ComparedPairs& pairs,
                                            Logger& logger) {
  if (plan.save.rows.empty()) return std::unique_ptr<RowWriter>();
  if (pairs.pairs.empty()) {
    return InvalidArgument(
        "--save-rows: rows describe pairs, and there is only one side to"
        " compare");
  }
  using Earlier = RowWriter::Earlier;
  const Earlier earlier = plan.shard.wanted() ? Earlier::kAreOfShard
                          : plan.save.resume  ? Earlier::kAreMadeAgain
                                              : Earlier::kStay;
  return RowWriter::Create(plan.save.rows, earlier, logger);
}

Status CheckNames(const RunPlan& plan, const InferenceScheduler& live, SavedStreams& loaded) {
  VERNIER_TRY(live.feeds().CheckMaps());
  // The comparison warns of unknown names, as Polygraphy does.
  if (plan.lenient) return {};
  std::vector<std::string> outputs, wholes;
  for (size_t i = 0; i < live.size(); ++i) {
    const SessionDescription& session = live[i].session();
    // Its outputs are not known.
    if (!live[i].alive() || session.outputs.empty()) return {};
    for (const TensorInfo& output : session.outputs) outputs.push_back(output.name);
    wholes.insert(wholes.end(), session.nested_outputs.begin(), session.nested_outputs.end());
  }
  for (size_t i = 0; i < loaded.runs().size(); ++i) {
    if (loaded.runs()[i].iterations == 0) continue;
    VERNIER_ASSIGN_OR_RETURN(const IterationResult first, loaded.Peek(i));
    for (const NamedTensor& output : first.outputs) {
      outputs.push_back(output.name);
      if (const std::string whole = WholeOf(output.name); !whole.empty()) wholes.push_back(whole);
    }
  }
  return CheckOutputNames(plan, outputs, wholes);
}

Status CheckOutputMaps(const RunPlan& plan, const InferenceScheduler& live,
                       const Comparing& comparing) {
  if (plan.output_map_words.empty() || plan.postprocess_script.given()) return {};
  std::vector<std::vector<std::string>> outputs;
  for (size_t i = 0; i < live.size(); ++i) {
    const SessionDescription& session = live[i].session();
    const bool known =
        live[i].alive() && !session.outputs.empty() && session.nested_outputs.empty();
    if (!known) return {};
    std::vector<std::string>& names = outputs.emplace_back();
    for (const TensorInfo& output : session.outputs) names.push_back(output.name);
  }
  for (size_t i = 0; i < comparing.loaded.runs().size(); ++i) {
    if (comparing.loaded.runs()[i].iterations == 0) return {};
    VERNIER_ASSIGN_OR_RETURN(const IterationResult first, comparing.loaded.Peek(i));
    std::vector<std::string>& names = outputs.emplace_back();
    for (const NamedTensor& output : first.outputs) names.push_back(output.name);
  }
  return comparing.comparisons.CheckMaps(outputs);
}

namespace {

// Once the first feed is known, and what is fed back to each runner.
void NoteOtherSteps(const Comparing& comparing) {
  ComparisonRun& comparisons = comparing.comparisons;
  SavedStreams& loaded = comparing.loaded;
  if (!loaded.AsksForSteps()) return;
  std::vector<std::string> live;
  std::vector<FedPair> fed;
  const StepStates* const steps = comparisons.steps();
  if (steps != nullptr && !comparisons.plan().runners.empty()) {
    for (size_t i = 0; i < steps->runners().size(); ++i) {
      live.push_back(DescribeFeeding(comparisons.plan(), *steps, i));
    }
  }
  for (const ComparedPair& pair : comparisons.pairs()) {
    const auto other = loaded.WhyOtherSteps(pair.first, pair.second, live, pair.shown);
    const bool may_be = other.unless_same_states && !loaded.lenient();
    FedPair& here =
        fed.emplace_back(may_be ? "" : other.why, may_be ? other.why : "",
                         loaded.AreOwnErrors(pair.first, pair.second, live),
                         loaded.HaveGivenTokens(pair.first, pair.second),
                         loaded.IsOfAllSteps(pair.first), loaded.IsOfAllSteps(pair.second));
    if (!loaded.lenient() || here.why_other.empty()) continue;
    loaded.WarnOfOtherInputs(pair.label() + ": " + here.why_other);
    here.why_other.clear();
  }
  comparisons.TakeFeeding(std::move(fed));
}

// Then no pair asks which step an iteration is.
bool AllHaveOtherSteps(const ComparisonRun& comparisons) {
  return std::ranges::none_of(comparisons.pairs(),
                              [](const ComparedPair& pair) { return pair.other_steps.empty(); });
}

}  // namespace

Result<bool> Comparing::Compare(int64_t iteration, IterationOutputs& outputs) const {
  NoteOtherSteps(*this);
  comparisons.LeaveOutOtherSteps([&](size_t first, size_t second) {
    return loaded.HaveOtherStates(first, second, iteration);
  });
  const bool other = AllHaveOtherSteps(comparisons);
  if (comparisons.timeline() != nullptr && !other) {
    VERNIER_TRY(loaded.CheckStepCount(iteration + 1, true));
  }
  VERNIER_ASSIGN_OR_RETURN(const bool complete, loaded.Append(iteration, outputs));
  if (!complete) return false;
  if (const StepTimeline* const timeline = comparisons.timeline()) {
    if (!other) VERNIER_TRY(loaded.CheckStep(iteration, *timeline));
  }
  FeedMarks feeds = loaded.FeedMarksOf(iteration);
  if (loaded.lenient() && !feeds.empty()) {
    const std::string why = comparisons.DescribeOtherInputs(iteration, feeds);
    if (!why.empty()) loaded.WarnOfOtherInputs(why);
    feeds.clear();
  }
  VERNIER_ASSIGN_OR_RETURN(const bool go_on,
                           comparisons.Compare(iteration, outputs, std::move(feeds)));
  if (shard != nullptr) VERNIER_TRY(shard->EndIteration(iteration));
  return go_on;
}

void Comparing::NoteFeed(int64_t iteration, OutputSavers& savers,
                         const InferenceScheduler& live) const {
  if (!loaded.runs().empty()) loaded.NoteLiveFeed(iteration, savers.FeedMark(), savers.FedState());
  if (rows != nullptr) rows->NoteFeed(iteration, savers.FeedHash());
  if (shard == nullptr) return;
  std::vector<ShardReceived> received;
  for (size_t i = 0; i < live.size() && live.plan().execution.hash_inputs; ++i) {
    ShardReceived& of_runner = received.emplace_back();
    for (const auto& [input, hash] : live[i].received().last()) {
      of_runner.hashes.push_back(HexadecimalHash(hash));
    }
  }
  shard->NoteInputs(savers.FeedHash(), std::move(received));
}

void Comparing::Disbelieve(size_t first) {
  comparisons.Disbelieve(first);
  if (rows != nullptr) std::exchange(rows, nullptr)->Discard();
}

Status CompareLoaded(const RunContext& run, const Comparing& comparing) {
  const ShardPlan& shard = run.plan.shard;
  int64_t total = 0;
  for (const SavedRuns::Run& side : comparing.loaded.runs()) {
    total = std::max(total, side.iterations);
  }
  VERNIER_TRY(DecideOnSaved(run, comparing));
  for (int64_t place = 0; !shard.wanted() || place < shard.CountOf(total); ++place) {
    VERNIER_TRY(run.CheckInterrupted());
    const int64_t i = shard.IndexOf(place, total);
    if (comparing.rows != nullptr) comparing.rows->NoteFeed(i, comparing.loaded.FeedOf(i));
    if (comparing.shard != nullptr) comparing.shard->NoteInputs(comparing.loaded.FeedOf(i), {});
    IterationOutputs outputs;
    VERNIER_ASSIGN_OR_RETURN(const bool go_on, comparing.Compare(i, outputs));
    if (!go_on) break;
  }
  return {};
}

}  // namespace vernier
