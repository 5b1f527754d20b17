#include "blame/probe/unprobed_run.h"

#include <algorithm>
#include <utility>

#include "blame/probe/blame_feeds.h"
#include "blame/probe/feed_names.h"
#include "blame/probe/tensor_pairs.h"
#include "run/feeds/described_inputs.h"
#include "run/feeds/plan_feeds.h"
#include "run/live/size_search.h"
#include "util/counted.h"

namespace vernier {
namespace {

std::string NameOf(const ProbeSide& side) { return "'" + side.plan().name + "'"; }

void KeepDeclared(const OnnxModel& model, TensorMap& outputs) {
  const std::vector<OnnxValue>& declared = model.graph().outputs;
  std::erase_if(outputs, [&](const NamedTensor& output) {
    return std::none_of(declared.begin(), declared.end(),
                        [&](const OnnxValue& value) { return value.name == output.name; });
  });
}

bool TimesKernels(const ProbeSide& side) { return side.plan().backend.starts_with("tensorrt"); }

}  // namespace

bool PlainRun::MayOverlap() const {
  return scene_.reference != nullptr && scene_.plan->max_gpu_bytes == 0 &&
         !(TimesKernels(*scene_.reference) && TimesKernels(*scene_.candidate));
}

Status PlainRun::Run() {
  VERNIER_TRY(OpenBoth());
  VERNIER_TRY(MakeFeeds());
  quantises_alone_ = QuantisesAlone(scene_.reference_model, saved_names_, *scene_.graph);
  outputs_.SetRunners(SidesAsRun());
  VERNIER_TRY(MatchOutputs());
  for (size_t i = 0; i < feeds_.size(); ++i) {
    if (scene_.interrupted->load() != 0) return Cancelled("interrupted");
    if (i == 0) VERNIER_TRY(SettleSizes());
    VERNIER_ASSIGN_OR_RETURN(TensorMap ours, ReferenceOutputs(i));
    VERNIER_ASSIGN_OR_RETURN(TensorMap theirs, Infer(*scene_.candidate, *candidate_runner_, i));
    KeepDeclared(scene_.graph->model(), theirs);
    VERNIER_TRY(outputs_.Add(feeds_[i], std::move(ours), std::move(theirs), matching_));
    if (i == 0) VERNIER_TRY(matching_.CheckUsed());
  }
  if (reference_runner_) Close(*scene_.reference, *reference_runner_);
  Close(*scene_.candidate, *candidate_runner_);
  idle_candidate_ = scene_.candidate->ResidentMemory();
  held_.model = scene_.graph->model().bytes().size();
  if (scene_.reference_model != nullptr) {
    held_.model = std::max<uint64_t>(held_.model, scene_.reference_model->bytes().size());
  }
  if (fusion_) fused_away_ = fusion_->FusedAway(*scene_.graph);
  return {};
}

Status PlainRun::MatchOutputs() {
  // Saved outputs may be those of a run that marked tensors.
  const PairingRule rule = scene_.plan->run.lenient      ? PairingRule::kLenient
                           : scene_.reference == nullptr ? PairingRule::kOneToOneMarked
                                                         : PairingRule::kOneToOne;
  const std::string reference = scene_.reference != nullptr
                                    ? scene_.reference->plan().name
                                    : scene_.loaded->runs()[scene_.saved_run].name;
  const std::vector<std::string> names = {reference, scene_.candidate->plan().name};
  VERNIER_ASSIGN_OR_RETURN(matching_, PairMatching::Create(scene_.plan->run.output_map_words, names,
                                                           {names[0], names[1]}, rule));
  return {};
}

Status PlainRun::OpenBoth() {
  if (scene_.reference == nullptr) return OpenCandidate().Annotate(NameOf(*scene_.candidate));
  VERNIER_ASSIGN_OR_RETURN(SessionAhead ahead,
                           scene_.reference->OpenPlainAhead().Annotate(NameOf(*scene_.reference)));
  if (!MayOverlap()) VERNIER_TRY(TakeReference(ahead));
  const Status opened = OpenCandidate().Annotate(NameOf(*scene_.candidate));
  if (reference_runner_ == nullptr) VERNIER_TRY(TakeReference(ahead));
  return opened;
}

Status PlainRun::TakeReference(SessionAhead& ahead) {
  VERNIER_ASSIGN_OR_RETURN(SessionAhead::Ready ready,
                           ahead.Take().Annotate(NameOf(*scene_.reference)));
  reference_runner_ = std::move(ready.session);
  return {};
}

// Asked how it fuses the graph, if it can tell: a session more would be a compile more.
Status PlainRun::OpenCandidate() {
  ProbeSide& candidate = *scene_.candidate;
  fusion_ = FusionQuestion::Make(candidate.Backend(), scene_.graph->model());
  if (fusion_) {
    Result<std::unique_ptr<LiveRunner>> told = candidate.OpenPlain(fusion_->options());
    if (told.ok()) {
      candidate_runner_ = *std::move(told);
      return {};
    }
    if (told.status().code() == StatusCode::kCancelled) return told.status();
    fusion_.reset();
  }
  VERNIER_ASSIGN_OR_RETURN(candidate_runner_, candidate.OpenPlain());
  return {};
}

std::vector<TensorInfo> PlainRun::InputsToFeed() const {
  const LiveRunner& first = reference_runner_ ? *reference_runner_ : *candidate_runner_;
  const OnnxModel& model =
      scene_.reference_model != nullptr ? *scene_.reference_model : scene_.graph->model();
  return first.inputs_unknown() ? model.RequiredInputs() : first.session().inputs;
}

Status PlainRun::MakeFeeds() {
  feeds_ = scene_.plan->feeds;
  if (!feeds_.empty()) return NameForBoth(feeds_);
  VERNIER_ASSIGN_OR_RETURN(
      feeds_, CollectFeeds(scene_.plan->run, InputsToFeed(), *scene_.pool, *scene_.logger));
  VERNIER_TRY(NameForBoth(feeds_));
  VERNIER_TRY(CheckGivenFeeds());
  return scene_.reference != nullptr ? Status() : MatchSavedIterations();
}

// What people give fits one side as it is, as in a run; floats of another width are for the other.
Status PlainRun::CheckGivenFeeds() const {
  const RunPlan& plan = scene_.plan->run;
  const bool given = !plan.inputs.load_paths.empty() || plan.inputs.script.given();
  if (!given || plan.lenient || reference_runner_ == nullptr) return {};
  for (const TensorMap& feed : feeds_) {
    Status fits = ProbeSide::Takes(*reference_runner_, feed);
    if (fits.ok() || ProbeSide::Takes(*candidate_runner_, feed).ok()) continue;
    return std::move(fits).Annotate(NameOf(*scene_.reference));
  }
  return {};
}

// What runs or probes a side finds its inputs by that side's names.
Status PlainRun::NameForBoth(std::span<TensorMap> feeds) const {
  const RunPlan& run = scene_.plan->run;
  std::vector<std::string> names;
  for (const RunnerPlan& runner : run.runners) names.push_back(runner.name);
  VERNIER_ASSIGN_OR_RETURN(const InputMaps maps, InputMaps::Create(run.inputs.map_words, names));
  const std::vector<TensorInfo> made_for = InputsToFeed();
  const bool given =
      !run.inputs.load_paths.empty() || run.inputs.script.given() || !scene_.plan->feeds.empty();
  std::vector<TensorInfo> all = made_for;
  const std::vector<TensorInfo>& theirs = candidate_runner_->session().inputs;
  all.insert(all.end(), theirs.begin(), theirs.end());
  VERNIER_TRY(maps.CheckNames(all));
  for (const LiveRunner* runner : {reference_runner_.get(), candidate_runner_.get()}) {
    if (runner == nullptr) continue;
    for (TensorMap& feed : feeds) {
      Status named = AddNamesOf(*runner, maps, made_for, *scene_.logger, feed);
      // What is wrong with feeds that people gave shows when they are used.
      if (!named.ok() && (!given || !maps.empty())) return named;
    }
  }
  return {};
}

// Where a side fails with sizes of 1 that nobody gave, or has nothing to compare, others are tried
// before that is called a failure. What the sides make of the first feed is made again in its turn.
Status PlainRun::SettleSizes() {
  const RunPlan& plan = scene_.plan->run;
  const std::vector<TensorInfo> inputs = InputsToFeed();
  const bool drawn = scene_.plan->feeds.empty() && scene_.reference != nullptr;
  if (!drawn || TimesKernels(*scene_.reference) || !SizesAreGuessed(plan, inputs)) return {};
  const auto draw = [&](const RunPlan& sized) -> Result<TensorMap> {
    VERNIER_ASSIGN_OR_RETURN(TensorMap feed,
                             OpenFirstFeed(sized, inputs, *scene_.pool, *scene_.quiet));
    VERNIER_TRY(NameForBoth({&feed, 1}));
    return feed;
  };
  SizeTrial trial{draw, {}, *scene_.logger};
  const auto add = [&](ProbeSide& side, LiveRunner& runner) {
    const auto infer = [&side, &runner](const TensorMap& feed) -> Result<bool> {
      if (runner.lost_worker()) return Unavailable("the worker is gone");
      return AllHaveElements(side.Infer(runner, feed));
    };
    trial.runners.push_back({side.plan().name, infer, infer(feeds_.front())});
  };
  add(*scene_.reference, *reference_runner_);
  if (!TimesKernels(*scene_.candidate)) add(*scene_.candidate, *candidate_runner_);
  VERNIER_ASSIGN_OR_RETURN(const FoundSizes found, FindSizes(plan, inputs, trial));
  VERNIER_TRY(found.unsteady);
  tried_sizes_ = found.tried;
  if (found.dims.empty()) return {};
  found_sizes_ = found.note;
  scene_.logger->Info(found.note);
  RunPlan sized = plan;
  sized.inputs.found_dims = found.dims;
  VERNIER_ASSIGN_OR_RETURN(feeds_, CollectFeeds(sized, inputs, *scene_.pool, *scene_.logger));
  return NameForBoth(feeds_);
}

Status PlainRun::MatchSavedIterations() {
  const auto saved = static_cast<size_t>(scene_.loaded->runs()[scene_.saved_run].iterations);
  if (saved == 0) return InvalidArgument("the saved outputs hold no iteration");
  if (feeds_.size() != saved) {
    shortened_ = "the saved outputs hold " + Counted(saved, "iteration") + " and the inputs " +
                 std::to_string(feeds_.size()) + ": only the first " +
                 std::to_string(std::min(saved, feeds_.size())) + " of both were looked at";
  }
  if (feeds_.size() > saved) feeds_.resize(saved);
  VERNIER_ASSIGN_OR_RETURN(const IterationResult peek, scene_.loaded->Peek(scene_.saved_run));
  for (const NamedTensor& output : peek.outputs) saved_names_.push_back(output.name);
  return {};
}

Result<TensorMap> PlainRun::Infer(ProbeSide& side, LiveRunner& runner, size_t iteration) {
  Result<TensorMap> outputs = side.Infer(runner, feeds_[iteration]);
  const Status& status = outputs.status();
  if (status.ok() || status.code() == StatusCode::kCancelled) return outputs;
  const std::string note =
      NoteOfFreeSizes(scene_.plan->run.inputs, runner.session().inputs, tried_sizes_);
  return Status(status.code(), NameOf(side) + ": " + status.message() + note);
}

Result<TensorMap> PlainRun::ReferenceOutputs(size_t iteration) {
  TensorMap outputs;
  if (scene_.reference != nullptr) {
    VERNIER_ASSIGN_OR_RETURN(outputs, Infer(*scene_.reference, *reference_runner_, iteration));
  } else {
    VERNIER_ASSIGN_OR_RETURN(
        IterationResult saved,
        scene_.loaded->Read(scene_.saved_run, static_cast<int64_t>(iteration), *scene_.quiet));
    outputs = std::move(saved.outputs);
  }
  if (scene_.reference_model != nullptr) KeepDeclared(*scene_.reference_model, outputs);
  return outputs;
}

// What it told of itself is needed further on, its memory is not.
void PlainRun::Close(ProbeSide& side, LiveRunner& runner) {
  const uint64_t peak = runner.TakePeakMemory().value_or(0);
  (void)runner.Close();
  side.GiveMemoryBack();
  const uint64_t idle = side.ResidentMemory();
  held_.session = std::max(held_.session, peak - std::min(peak, idle));
  held_.idle += idle;
}

std::vector<RunnerRecord> PlainRun::Runners() const {
  std::vector<RunnerRecord> records;
  for (const LiveRunner* runner : {reference_runner_.get(), candidate_runner_.get()}) {
    if (runner != nullptr) records.push_back(runner->Describe());
  }
  return records;
}

}  // namespace vernier
