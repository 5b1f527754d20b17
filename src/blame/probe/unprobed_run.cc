#include "blame/probe/unprobed_run.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "blame/graph/fused_tensors.h"
#include "blame/sides/feed_maker.h"
#include "blame/sides/tensor_pairs.h"
#include "run/feeds/undeclared_inputs.h"
#include "run/live/size_search.h"
#include "run/maps/pair_matching.h"
#include "run/workers/held_log.h"
#include "util/files/scratch_folder.h"

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

// A session, and what it answers once it is closed.
struct CandidateSession {
  std::unique_ptr<RunnerSession> runner;
  std::optional<FusionQuestion> fusion;
};

void WarnOfUnknownFusions(const ProbeSide& candidate, const Status& why, Logger& logger) {
  logger.Warning("Which layers " + candidate.plan().name +
                 " fuses is unknown, so each counts as unfused: " + why.message());
}

// Asked how it fuses the graph, if it can tell: a session more would be a compile more.
Result<CandidateSession> OpenCandidate(ProbeSide& candidate, const OnnxModel& model,
                                       Logger& logger) {
  Result<std::optional<FusionQuestion>> question = FusionQuestion::Make(candidate.Backend(), model);
  if (!question.ok()) WarnOfUnknownFusions(candidate, question.status(), logger);
  if (question.ok() && *question) {
    Result<std::unique_ptr<RunnerSession>> told = candidate.OpenPlain((*question)->options());
    if (told.ok()) return CandidateSession{*std::move(told), *std::move(question)};
    if (told.status().code() == StatusCode::kCancelled) return told.status();
    // It may have found no room for the answer.
    if (std::string fault = TemporarySpaceFault(); !fault.empty()) {
      WarnOfUnknownFusions(candidate, IoError(std::move(fault)), logger);
    }
    question = std::optional<FusionQuestion>();
  }
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<RunnerSession> runner, candidate.OpenPlain());
  return CandidateSession{std::move(runner), std::nullopt};
}

// Once its session is closed.
NameSet FusedAwayBy(const ProbeSide& candidate, const std::optional<FusionQuestion>& question,
                    const BlameGraph& graph, Logger& logger) {
  if (!question) return {};
  Result<NameSet> fused_away = question->FusedAway(graph);
  if (fused_away.ok()) return *std::move(fused_away);
  WarnOfUnknownFusions(candidate, fused_away.status(), logger);
  return {};
}

struct OpenSessions {
  std::unique_ptr<RunnerSession> reference;  // null: it is saved
  CandidateSession candidate;
};

// Of a reference that cannot be opened, and of a candidate that was opened meanwhile. As in `run`,
// a framework that fails counts more than a model that another one calls malformed.
Status BothFailures(const Status& reference,
                    const std::optional<Result<CandidateSession>>& candidate) {
  const Status other = candidate ? candidate->status() : Status();
  const bool counts_more = other.code() == StatusCode::kBackend;
  if (reference.code() != StatusCode::kMalformed || !counts_more) return reference;
  return BackendError(reference.message() + "; " + other.message());
}

Result<OpenSessions> OpenBoth(SearchSides& sides, const OnnxModel& model, bool overlap,
                              Logger& logger) {
  const auto open_candidate = [&] {
    return OpenCandidate(sides.candidate, model, logger).Annotate(NameOf(sides.candidate));
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
  Result<SessionAhead::Ready> ready = ahead.Take().Annotate(NameOf(reference));
  if (!ready.ok()) return BothFailures(ready.status(), candidate);
  if (!overlap) candidate.emplace(open_candidate());
  if (!candidate->ok()) return candidate->status();
  return OpenSessions{std::move(ready->session), **std::move(candidate)};
}

// Where a side fails with sizes of 1 that were not given, or has nothing to compare, others are
// tried before that is called a failure. What the sides make of the first feed is made again in its
// turn.
Result<FoundSizes> SettleSizes(const FeedMaker& maker, SearchSides& sides, OpenSessions& sessions,
                               const TensorMap& first) {
  const BlamePlan& plan = maker.plan();
  const std::vector<TensorInfo>& inputs = maker.inputs();
  const bool drawn = plan.feeds.empty() && sides.reference;
  if (!drawn || sides.reference->BuildsEngines() || !SizesAreGuessed(plan.run, inputs)) {
    return FoundSizes();
  }
  SizeTrial trial{[&](const RunPlan& sized) { return maker.DrawFirst(sized); }, {}, maker.logger()};
  const auto add = [&](ProbeSide& side, RunnerSession& runner) {
    const auto infer = [&side, &runner](const TensorMap& feed) -> Result<bool> {
      if (runner.lost_worker()) return Unavailable("the worker is gone");
      return AllHaveElements(side.Infer(runner, feed));
    };
    trial.runners.push_back({side.plan().name, infer, infer(first)});
  };
  add(*sides.reference, *sessions.reference);
  if (!sides.candidate.BuildsEngines()) add(sides.candidate, *sessions.candidate.runner);
  VERNIER_ASSIGN_OR_RETURN(FoundSizes found, FindSizes(plan.run, inputs, trial));
  VERNIER_TRY(found.unsteady);
  return found;
}

// What both sides are fed, and the sizes that were found for that. That sizes are taken as 1 is not
// said of feeds that others took the place of.
Result<FoundSizes> MakeSizedFeeds(const FeedMaker& maker, SearchSides& sides,
                                  OpenSessions& sessions, const SearchContext& context,
                                  SearchFeeds& given) {
  HeldLog drawing;
  const auto settle = [&]() -> Result<FoundSizes> {
    VERNIER_ASSIGN_OR_RETURN(given, MakeSearchFeeds(maker, sides, drawing));
    VERNIER_TRY(context.CheckInterrupted());
    return SettleSizes(maker, sides, sessions, given.feeds.front());
  };
  Result<FoundSizes> found = settle();
  if (!found.ok() || found->dims.empty()) {
    drawing.WriteTo(context.logger);
    return found;
  }
  context.logger.Info(found->note);
  VERNIER_ASSIGN_OR_RETURN(given.feeds, maker.MakeSized(found->dims));
  return found;
}

// Are saved outputs those of a run that marked tensors? Then names alone pair them.
bool AreMarked(const std::vector<std::string>& saved_names, const BlameGraph& graph) {
  return std::ranges::any_of(saved_names, [&](const std::string& name) {
    return graph.IsMade(name) && !graph.IsOutput(name);
  });
}

Result<PairMatching> MatchOutputs(const RunPlan& plan, const SearchSides& sides, bool marked) {
  const PairingRule rule = plan.lenient ? PairingRule::kLenient
                           : marked     ? PairingRule::kOneToOneMarked
                                        : PairingRule::kOneToOne;
  const std::vector<std::string> names = {sides.ReferenceName(), sides.candidate.plan().name};
  return PairMatching::Create(plan.output_map_words, names, {names[0], names[1]}, rule);
}

// Runs both sides on one feed after the other.
class BothSides {
 public:
  /// `tried` is how many sizes were tried for free dimensions, as of NoteOfFreeSizes.
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
  Result<TensorMap> Infer(ProbeSide& side, RunnerSession& runner, const TensorMap& feed) const {
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

// Keeps the session's description and releases its memory.
void CloseSession(ProbeSide& side, RunnerSession& runner, HeldMemory& held) {
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
         !(sides.reference->BuildsEngines() && sides.candidate.BuildsEngines());
}

std::vector<RunnerRecord> UnprobedRun::Describe() const {
  std::vector<RunnerRecord> records;
  for (const RunnerSession* runner : {reference.get(), candidate.get()}) {
    if (runner != nullptr) records.push_back(runner->Describe());
  }
  return records;
}

Result<UnprobedRun> RunUnprobed(const BlamePlan& plan, const SearchModels& models,
                                SearchSides& sides, const SearchContext& context) {
  VERNIER_ASSIGN_OR_RETURN(
      OpenSessions sessions,
      OpenBoth(sides, models.candidate.model(), MayOverlap(plan, sides), context.logger));
  const FeedMaker maker(plan, models, context, sessions.reference.get(),
                        *sessions.candidate.runner);
  SearchFeeds given;
  VERNIER_ASSIGN_OR_RETURN(const FoundSizes found,
                           MakeSizedFeeds(maker, sides, sessions, context, given));
  const bool alone = QuantisesAlone(models.reference.get(), given.saved_names, models.candidate);
  const bool marked = AreMarked(given.saved_names, models.candidate);
  VERNIER_ASSIGN_OR_RETURN(PairMatching matching, MatchOutputs(plan.run, sides, marked));
  UnprobedOutputs outputs({sessions.reference.get(), sessions.candidate.runner.get(), alone});
  const BothSides both(plan, models, sides, sessions, found.tried_for_note());
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
      FusedAwayBy(sides.candidate, sessions.candidate.fusion, models.candidate, context.logger);
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
