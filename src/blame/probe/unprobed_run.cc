#include "blame/probe/unprobed_run.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "blame/graph/fused_tensors.h"
#include "blame/probe/blame_feeds.h"
#include "blame/probe/feed_names.h"
#include "blame/probe/tensor_pairs.h"
#include "run/comparison/pair_matching.h"
#include "run/feeds/described_inputs.h"
#include "run/feeds/plan_feeds.h"
#include "run/live/size_search.h"
#include "util/counted.h"
#include "util/scratch_folder.h"

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

// A session, and what it answers once it is closed.
struct CandidateSession {
  std::unique_ptr<LiveRunner> runner;
  std::optional<FusionQuestion> fusion;
  Status fusion_fault;  // why nobody could be asked, where the runtime would tell
};

// Asked how it fuses the graph, if it can tell: a session more would be a compile more.
Result<CandidateSession> OpenCandidate(ProbeSide& candidate, const OnnxModel& model) {
  Result<std::optional<FusionQuestion>> fusion = FusionQuestion::Make(candidate.Backend(), model);
  Status fault = fusion.status();
  if (fusion.ok() && *fusion) {
    Result<std::unique_ptr<LiveRunner>> told = candidate.OpenPlain((*fusion)->options());
    if (told.ok()) return CandidateSession{*std::move(told), *std::move(fusion), Status()};
    if (told.status().code() == StatusCode::kCancelled) return told.status();
    // It may have found no room for the answer.
    if (std::string room = TemporarySpaceFault(); !room.empty()) fault = IoError(std::move(room));
  }
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<LiveRunner> runner, candidate.OpenPlain());
  return CandidateSession{std::move(runner), std::nullopt, std::move(fault)};
}

// To be called once the candidate's session is closed. None where that is not known, which is
// logged.
NameSet FusedAway(const CandidateSession& candidate, const BlameGraph& graph,
                  const std::string& name, Logger& logger) {
  Result<NameSet> fused = NameSet();
  if (!candidate.fusion_fault.ok()) fused = candidate.fusion_fault;
  if (candidate.fusion) fused = candidate.fusion->FusedAway(graph);
  if (fused.ok()) return *std::move(fused);
  logger.Warning("Which layers " + name +
                 " fuses is not known, and all count as single ones: " + fused.status().message());
  return {};
}

struct OpenSessions {
  std::unique_ptr<LiveRunner> reference;  // null: it is saved
  CandidateSession candidate;
};

Result<OpenSessions> OpenBoth(SearchSides& sides, const OnnxModel& model, bool overlap) {
  const auto open_candidate = [&] {
    return OpenCandidate(sides.candidate, model).Annotate(NameOf(sides.candidate));
  };
  if (!sides.reference) {
    VERNIER_ASSIGN_OR_RETURN(CandidateSession alone, open_candidate());
    return OpenSessions{nullptr, std::move(alone)};
  }
  ProbeSide& reference = *sides.reference;
  VERNIER_ASSIGN_OR_RETURN(SessionAhead ahead,
                           reference.OpenPlainAhead().Annotate(NameOf(reference)));
  std::optional<Result<CandidateSession>> candidate;
  if (overlap) candidate.emplace(open_candidate());
  VERNIER_ASSIGN_OR_RETURN(SessionAhead::Ready ready, ahead.Take().Annotate(NameOf(reference)));
  if (!overlap) candidate.emplace(open_candidate());
  if (!candidate->ok()) return candidate->status();
  return OpenSessions{std::move(ready.session), **std::move(candidate)};
}

// The feeds of a search, made for the sessions of both sides.
class FeedMaker {
 public:
  FeedMaker(const BlamePlan& plan, const SearchModels& models, const SearchContext& context,
            const OpenSessions& sessions)
      : plan_(plan),
        context_(context),
        reference_(sessions.reference.get()),
        candidate_(*sessions.candidate.runner),
        inputs_(InputsToFeed(models)) {}

  const BlamePlan& plan() const { return plan_; }
  Logger& logger() const { return context_.logger; }

  /// Those of the first side: what feeds are drawn for.
  const std::vector<TensorInfo>& inputs() const { return inputs_; }

  Result<std::vector<TensorMap>> Make() const {
    if (plan_.feeds.empty()) return Collect(plan_.run);
    std::vector<TensorMap> feeds = plan_.feeds;
    VERNIER_TRY(NameForBoth(feeds));
    return feeds;
  }

  /// With these sizes for free dimensions.
  Result<std::vector<TensorMap>> MakeSized(const std::vector<DimSize>& sizes) const {
    RunPlan sized = plan_.run;
    sized.inputs.found_dims = sizes;
    return Collect(sized);
  }

  /// The first of `sized`, unheard.
  Result<TensorMap> DrawFirst(const RunPlan& sized) const {
    VERNIER_ASSIGN_OR_RETURN(TensorMap feed,
                             OpenFirstFeed(sized, inputs_, context_.pool, context_.quiet));
    VERNIER_TRY(NameForBoth({&feed, 1}));
    return feed;
  }

  // What people give fits one side as it is, as in a run; floats of another width are for the
  // other.
  Status CheckGiven(std::span<const TensorMap> feeds) const {
    if (!plan_.feeds.empty() || !IsGiven() || plan_.run.lenient || reference_ == nullptr) return {};
    for (const TensorMap& feed : feeds) {
      Status fits = ProbeSide::Takes(*reference_, feed);
      if (fits.ok() || ProbeSide::Takes(candidate_, feed).ok()) continue;
      return std::move(fits).Annotate("'" + reference_->name() + "'");
    }
    return {};
  }

 private:
  std::vector<TensorInfo> InputsToFeed(const SearchModels& models) const {
    const LiveRunner& first = reference_ != nullptr ? *reference_ : candidate_;
    const OnnxModel& model =
        models.reference != nullptr ? *models.reference : models.candidate.model();
    return first.inputs_unknown() ? model.RequiredInputs() : first.session().inputs;
  }

  bool IsGiven() const {
    return !plan_.run.inputs.load_paths.empty() || plan_.run.inputs.script.given();
  }

  Result<std::vector<TensorMap>> Collect(const RunPlan& plan) const {
    VERNIER_ASSIGN_OR_RETURN(std::vector<TensorMap> feeds,
                             CollectFeeds(plan, inputs_, context_.pool, context_.logger));
    VERNIER_TRY(NameForBoth(feeds));
    return feeds;
  }

  // What runs or probes a side finds its inputs by that side's names.
  Status NameForBoth(std::span<TensorMap> feeds) const {
    std::vector<std::string> names;
    for (const RunnerPlan& runner : plan_.run.runners) names.push_back(runner.name);
    VERNIER_ASSIGN_OR_RETURN(const InputMaps maps,
                             InputMaps::Create(plan_.run.inputs.map_words, names));
    const bool given = IsGiven() || !plan_.feeds.empty();
    std::vector<TensorInfo> all = inputs_;
    const std::vector<TensorInfo>& theirs = candidate_.session().inputs;
    all.insert(all.end(), theirs.begin(), theirs.end());
    VERNIER_TRY(maps.CheckNames(all));
    for (const LiveRunner* runner : {reference_, &candidate_}) {
      if (runner == nullptr) continue;
      for (TensorMap& feed : feeds) {
        Status named = AddNamesOf(*runner, maps, inputs_, context_.logger, feed);
        // What is wrong with feeds that people gave shows when they are used.
        if (!named.ok() && (!given || !maps.empty())) return named;
      }
    }
    return {};
  }

  const BlamePlan& plan_;
  const SearchContext& context_;
  const LiveRunner* const reference_;  // null: it is saved
  const LiveRunner& candidate_;
  const std::vector<TensorInfo> inputs_;
};

// Where a side fails with sizes of 1 that nobody gave, or has nothing to compare, others are tried
// before that is called a failure. What the sides make of the first feed is made again in its turn.
Result<FoundSizes> SettleSizes(const FeedMaker& maker, SearchSides& sides, OpenSessions& sessions,
                               const TensorMap& first) {
  const BlamePlan& plan = maker.plan();
  const std::vector<TensorInfo>& inputs = maker.inputs();
  const bool drawn = plan.feeds.empty() && sides.reference;
  if (!drawn || TimesKernels(*sides.reference) || !SizesAreGuessed(plan.run, inputs)) {
    return FoundSizes();
  }
  SizeTrial trial{[&](const RunPlan& sized) { return maker.DrawFirst(sized); }, {}, maker.logger()};
  const auto add = [&](ProbeSide& side, LiveRunner& runner) {
    const auto infer = [&side, &runner](const TensorMap& feed) -> Result<bool> {
      if (runner.lost_worker()) return Unavailable("the worker is gone");
      return AllHaveElements(side.Infer(runner, feed));
    };
    trial.runners.push_back({side.plan().name, infer, infer(first)});
  };
  add(*sides.reference, *sessions.reference);
  if (!TimesKernels(sides.candidate)) add(sides.candidate, *sessions.candidate.runner);
  VERNIER_ASSIGN_OR_RETURN(FoundSizes found, FindSizes(plan.run, inputs, trial));
  VERNIER_TRY(found.unsteady);
  return found;
}

// Which iterations of a saved reference there are.
struct SavedIterations {
  size_t count = 0;
  std::vector<std::string> names;  // of the first one's outputs
};

Result<SavedIterations> LookAtSaved(SearchSides& sides) {
  SavedIterations saved;
  saved.count = static_cast<size_t>(sides.saved.runs()[sides.places.saved].iterations);
  if (saved.count == 0) return InvalidArgument("the saved outputs hold no iteration");
  VERNIER_ASSIGN_OR_RETURN(const IterationResult peek, sides.saved.Peek(sides.places.saved));
  for (const NamedTensor& output : peek.outputs) saved.names.push_back(output.name);
  return saved;
}

// Why fewer iterations are looked at than were given; empty: all are.
std::string WhyShortened(size_t saved, size_t feeds) {
  if (feeds == saved) return {};
  return "the saved outputs hold " + Counted(saved, "iteration") + " and the inputs " +
         std::to_string(feeds) + ": only the first " + std::to_string(std::min(saved, feeds)) +
         " of both were looked at";
}

struct SearchFeeds {
  std::vector<TensorMap> feeds;
  std::vector<std::string> saved_names;  // see UnprobedRun, as the next
  std::string shortened;
};

Result<SearchFeeds> FeedsOf(const FeedMaker& maker, SearchSides& sides) {
  VERNIER_ASSIGN_OR_RETURN(std::vector<TensorMap> feeds, maker.Make());
  VERNIER_TRY(maker.CheckGiven(feeds));
  if (sides.reference || !maker.plan().feeds.empty()) return SearchFeeds{std::move(feeds), {}, {}};
  VERNIER_ASSIGN_OR_RETURN(SavedIterations saved, LookAtSaved(sides));
  std::string shortened = WhyShortened(saved.count, feeds.size());
  if (feeds.size() > saved.count) feeds.resize(saved.count);
  return SearchFeeds{std::move(feeds), std::move(saved.names), std::move(shortened)};
}

Result<PairMatching> MatchOutputs(const RunPlan& plan, const SearchSides& sides) {
  // Saved outputs may be those of a run that marked tensors.
  const PairingRule rule = plan.lenient       ? PairingRule::kLenient
                           : !sides.reference ? PairingRule::kOneToOneMarked
                                              : PairingRule::kOneToOne;
  const std::vector<std::string> names = {sides.ReferenceName(), sides.candidate.plan().name};
  return PairMatching::Create(plan.output_map_words, names, {names[0], names[1]}, rule);
}

// Runs both sides on one feed after the other.
class BothSides {
 public:
  /// `tried` is how many sizes were tried for free dimensions.
  BothSides(const BlamePlan& plan, const SearchModels& models, SearchSides& sides,
            OpenSessions& sessions, int64_t tried)
      : inputs_(plan.run.inputs),
        models_(models),
        sides_(sides),
        sessions_(sessions),
        tried_(tried) {}

  Result<TensorMap> OfReference(const TensorMap& feed, int64_t iteration, Logger& quiet) const {
    TensorMap outputs;
    if (sides_.reference) {
      VERNIER_ASSIGN_OR_RETURN(outputs, Infer(*sides_.reference, *sessions_.reference, feed));
    } else {
      VERNIER_ASSIGN_OR_RETURN(IterationResult saved,
                               sides_.saved.Read(sides_.places.saved, iteration, quiet));
      outputs = std::move(saved.outputs);
    }
    if (models_.reference != nullptr) KeepDeclared(*models_.reference, outputs);
    return outputs;
  }

  Result<TensorMap> OfCandidate(const TensorMap& feed) const {
    VERNIER_ASSIGN_OR_RETURN(TensorMap outputs,
                             Infer(sides_.candidate, *sessions_.candidate.runner, feed));
    KeepDeclared(models_.candidate.model(), outputs);
    return outputs;
  }

 private:
  Result<TensorMap> Infer(ProbeSide& side, LiveRunner& runner, const TensorMap& feed) const {
    Result<TensorMap> outputs = side.Infer(runner, feed);
    const Status& status = outputs.status();
    if (status.ok() || status.code() == StatusCode::kCancelled) return outputs;
    const std::string note = NoteOfFreeSizes(inputs_, runner.session().inputs, tried_);
    return Status(status.code(), NameOf(side) + ": " + status.message() + note);
  }

  const InputPlan& inputs_;
  const SearchModels& models_;
  SearchSides& sides_;
  OpenSessions& sessions_;
  const int64_t tried_;
};

// What it told of itself is needed further on, its memory is not.
void CloseSession(ProbeSide& side, LiveRunner& runner, HeldMemory& held) {
  const uint64_t peak = runner.TakePeakMemory().value_or(0);
  (void)runner.Close();
  side.GiveMemoryBack();
  const uint64_t idle = side.ResidentMemory();
  held.session = std::max(held.session, peak - std::min(peak, idle));
  held.idle += idle;
}

// Closes both sessions. What is held from then on.
HeldMemory CloseBoth(SearchSides& sides, OpenSessions& sessions, const SearchModels& models) {
  HeldMemory held;
  if (sides.reference) CloseSession(*sides.reference, *sessions.reference, held);
  CloseSession(sides.candidate, *sessions.candidate.runner, held);
  held.model = models.candidate.model().bytes().size();
  if (models.reference != nullptr) {
    held.model = std::max<uint64_t>(held.model, models.reference->bytes().size());
  }
  return held;
}

}  // namespace

bool MayOverlap(const BlamePlan& plan, const SearchSides& sides) {
  return sides.reference && plan.max_gpu_bytes == 0 &&
         !(TimesKernels(*sides.reference) && TimesKernels(sides.candidate));
}

std::vector<RunnerRecord> UnprobedRun::Describe() const {
  std::vector<RunnerRecord> records;
  for (const LiveRunner* runner : {reference.get(), candidate.get()}) {
    if (runner != nullptr) records.push_back(runner->Describe());
  }
  return records;
}

Result<UnprobedRun> RunUnprobed(const BlamePlan& plan, const SearchModels& models,
                                SearchSides& sides, const SearchContext& context) {
  VERNIER_ASSIGN_OR_RETURN(OpenSessions sessions,
                           OpenBoth(sides, models.candidate.model(), MayOverlap(plan, sides)));
  const FeedMaker maker(plan, models, context, sessions);
  VERNIER_ASSIGN_OR_RETURN(SearchFeeds given, FeedsOf(maker, sides));
  const bool alone = QuantisesAlone(models.reference.get(), given.saved_names, models.candidate);
  VERNIER_ASSIGN_OR_RETURN(PairMatching matching, MatchOutputs(plan.run, sides));
  VERNIER_TRY(context.CheckInterrupted());
  VERNIER_ASSIGN_OR_RETURN(const FoundSizes found,
                           SettleSizes(maker, sides, sessions, given.feeds.front()));
  if (!found.dims.empty()) {
    context.logger.Info(found.note);
    VERNIER_ASSIGN_OR_RETURN(given.feeds, maker.MakeSized(found.dims));
  }
  UnprobedOutputs outputs({sessions.reference.get(), sessions.candidate.runner.get(), alone});
  const BothSides both(plan, models, sides, sessions, found.tried);
  for (size_t i = 0; i < given.feeds.size(); ++i) {
    VERNIER_TRY(context.CheckInterrupted());
    const TensorMap& feed = given.feeds[i];
    VERNIER_ASSIGN_OR_RETURN(TensorMap ours,
                             both.OfReference(feed, static_cast<int64_t>(i), context.quiet));
    VERNIER_ASSIGN_OR_RETURN(TensorMap theirs, both.OfCandidate(feed));
    VERNIER_TRY(outputs.Add(feed, std::move(ours), std::move(theirs), matching));
    if (i == 0) VERNIER_TRY(matching.CheckUsed());
  }
  const HeldMemory held = CloseBoth(sides, sessions, models);
  NameSet fused_away =
      FusedAway(sessions.candidate, models.candidate, sides.candidate.plan().name, context.logger);
  return UnprobedRun{.reference = std::move(sessions.reference),
                     .candidate = std::move(sessions.candidate.runner),
                     .quantises_alone = alone,
                     .feeds = std::move(given.feeds),
                     .shortened = std::move(given.shortened),
                     .found_sizes = found.dims.empty() ? std::string() : found.note,
                     .saved_names = std::move(given.saved_names),
                     .outputs = std::move(outputs),
                     .fused_away = std::move(fused_away),
                     .held = held,
                     .idle_candidate = sides.candidate.ResidentMemory()};
}

}  // namespace vernier
