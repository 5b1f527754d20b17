#include "check/extremes/extremes.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "check/extremes/extreme_counts.h"
#include "check/runners/first_feed.h"
#include "check/runners/probe_sizes.h"
#include "check/runners/sample_drawer.h"
#include "run/feeds/undeclared_inputs.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

// What follows the limits where an input has one element.
constexpr ExtremeSetRow kFromLargest = {ExtremeSet::kLimitsFromLargest, "limits (largest first)",
                                        "integers: the largest and the smallest value in turn",
                                        true};

// A runner as it is asked.
struct ExtremeSide {
  const RunnerPlan* plan;
  std::shared_ptr<const ModelSource> model;
  std::unique_ptr<Probe> probe;  // null: it could not be opened, or died
  ExtremeRunner record;
};

// What every set is put into.
struct BaseFeed {
  TensorMap feed;
  std::string sizes_found = {};  // a sentence; empty: none had to be
  int64_t tried_sizes = 0;
};

// The base with a set in every input that takes it.
struct SetFeed {
  std::optional<TensorMap> feed;  // nullopt: none does
  bool inputs_are_empty = false;  // some would, and have no elements
};

class ExtremesCheck {
 public:
  ExtremesCheck(const RunPlan& plan, const Probe::Shared& shared, const ExtremeObserver& observer)
      : plan_(plan), shared_(shared), observer_(observer) {}

  Result<ExtremesRecord> Run(std::span<const ExtremeSetRow> sets) const {
    ExtremesRecord record;
    std::vector<ExtremeSide> sides;
    for (const RunnerPlan& runner : plan_.runners) {
      VERNIER_ASSIGN_OR_RETURN(ExtremeSide side, Open(runner));
      record.runners.push_back(side.record);
      sides.push_back(std::move(side));
    }
    const ExtremeSide* const asked = WhoTellsInputs(sides);
    if (asked == nullptr) return record;
    VERNIER_ASSIGN_OR_RETURN(const BaseFeed base, Draw(*asked, sides));
    record.sizes_found = base.sizes_found;
    record.integers_kept = KeptIntegers(sets, base.feed);
    ExtremeCoverage coverage;
    for (const ExtremeSetRow& set : sets) {
      VERNIER_TRY(Try(set, base, sides, coverage, record));
      if (set.set != ExtremeSet::kLimits || !OneElementHasLimits(base.feed)) continue;
      VERNIER_TRY(Try(kFromLargest, base, sides, coverage, record));
    }
    record.outputs = static_cast<int64_t>(coverage.size());
    for (const auto& [name, covered] : coverage) {
      if (!covered.shows) record.shows_nothing.push_back({name, covered.why});
    }
    return record;
  }

 private:
  // Also where the runner cannot be opened: its record then says why.
  Result<ExtremeSide> Open(const RunnerPlan& runner) const {
    VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<const ModelSource> model,
                             ModelSource::Prepare(runner.model, shared_.logger));
    Result<std::unique_ptr<Probe>> probe = Probe::Open(shared_, runner, *model);
    if (probe.status().code() == StatusCode::kCancelled) return probe.status();
    ExtremeSide side{
        &runner, std::move(model), nullptr, {runner.name, runner.backend, {}, {}, false}};
    if (probe.ok()) {
      side.probe = *std::move(probe);
      side.record.framework_version = side.probe->runner().backend().framework_version;
    } else {
      side.record.failure = probe.status().message();
      side.record.unavailable = probe.status().code() == StatusCode::kUnavailable;
    }
    return side;
  }

  // The first that says what it takes; the first at all where none does.
  static const ExtremeSide* WhoTellsInputs(std::span<const ExtremeSide> sides) {
    const ExtremeSide* silent = nullptr;
    for (const ExtremeSide& side : sides) {
      if (side.probe == nullptr) continue;
      if (!side.probe->runner().inputs_unknown()) return &side;
      if (silent == nullptr) silent = &side;
    }
    return silent;
  }

  Result<BaseFeed> Draw(const ExtremeSide& asked, std::span<ExtremeSide> sides) const {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<TensorInfo> inputs,
                             asked.probe->InputsToFeed(plan_.inputs));
    VERNIER_ASSIGN_OR_RETURN(TensorMap feed, MakeFirstFeed(plan_, inputs, shared_, shared_.logger));
    VERNIER_TRY(CheckTokens(feed, sides));
    if (!SizesAreGuessed(plan_, inputs)) return BaseFeed{std::move(feed)};
    Result<BaseFeed> base = SettleSizes(inputs, std::move(feed), sides);
    if (base.ok()) VERNIER_TRY(CheckTokens(base->feed, sides));
    return base;
  }

  // Of what the sets are put into; the extremes of integers may be none of the vocabulary.
  Status CheckTokens(const TensorMap& feed, std::span<const ExtremeSide> sides) const {
    NoLog unheard;
    for (const ExtremeSide& side : sides) {
      if (side.probe == nullptr) continue;
      const Result<TensorMap> own = side.probe->Coerce(feed, unheard);
      if (!own.ok()) continue;  // told where it is fed
      VERNIER_TRY(SampleDrawer(plan_, shared_).CheckTokens(*side.probe, *own, shared_.logger));
    }
    return {};
  }

  // Whether the model runs at all with sizes that were not given, before extremes could be why not.
  Result<BaseFeed> SettleSizes(const std::vector<TensorInfo>& inputs, TensorMap feed,
                               std::span<ExtremeSide> sides) const {
    NoLog unheard;
    const auto draw = [&](const RunPlan& sized) {
      return MakeFirstFeed(sized, inputs, shared_, unheard);
    };
    SizeTrial trial{draw, {}, shared_.logger};
    for (ExtremeSide& side : sides) {
      if (side.probe == nullptr || !TakesAnySizes(*side.probe)) continue;
      Result<bool> at_one = AllHaveElements(Infer(side, feed));
      trial.runners.push_back(SizeRunnerOf(*side.probe, std::move(at_one)));
    }
    VERNIER_ASSIGN_OR_RETURN(FoundSizes found, FindSizes(plan_, inputs, trial));
    VERNIER_TRY(found.unsteady);
    if (!found.dims.empty()) {
      shared_.logger.Warning(found.note);
      return BaseFeed{std::move(found.feed), std::move(found.note), found.tried_for_note()};
    }
    for (ExtremeSide& side : sides) {
      if (side.probe != nullptr && side.probe->runner().lost_worker()) side.probe.reset();
    }
    return BaseFeed{std::move(feed), "", found.tried_for_note()};
  }

  // Integers that no set has tried: the report names them.
  static std::vector<std::string> KeptIntegers(std::span<const ExtremeSetRow> sets,
                                               const TensorMap& feed) {
    const bool tried = std::ranges::any_of(
        sets, [](const ExtremeSetRow& set) { return set.set == ExtremeSet::kLimits; });
    std::vector<std::string> kept;
    for (const NamedTensor& input : feed) {
      if (tried || !TakesExtremes(input.tensor.dtype(), ExtremeSet::kLimits)) continue;
      kept.push_back(input.name);
    }
    return kept;
  }

  // In turn, an input of one element would only get the smallest value.
  static bool OneElementHasLimits(const TensorMap& feed) {
    return std::ranges::any_of(feed, [](const NamedTensor& input) {
      return input.tensor.element_count() == 1 &&
             TakesExtremes(input.tensor.dtype(), ExtremeSet::kLimits);
    });
  }

  Result<SetFeed> FeedWith(ExtremeSet set, TensorMap feed) const {
    NumpyRandom random(static_cast<uint32_t>(plan_.inputs.seed));
    SetFeed made;
    bool any = false;
    for (NamedTensor& input : feed) {
      if (!TakesExtremes(input.tensor.dtype(), set)) continue;
      if (input.tensor.element_count() == 0) made.inputs_are_empty = true;
      if (input.tensor.element_count() == 0) continue;
      VERNIER_ASSIGN_OR_RETURN(input.tensor, MakeExtreme(input.tensor, set, random));
      any = true;
    }
    if (any) made.feed = std::move(feed);
    return made;
  }

  // Adds the answers of all runners that could be opened.
  Status Try(const ExtremeSetRow& set, const BaseFeed& base, std::span<ExtremeSide> sides,
             ExtremeCoverage& coverage, ExtremesRecord& record) const {
    VERNIER_ASSIGN_OR_RETURN(const SetFeed made, FeedWith(set.set, base.feed));
    record.inputs_are_empty |= made.inputs_are_empty;
    if (!made.feed) {
      record.not_tried.emplace_back(set.name);
      return {};
    }
    std::optional<TensorMap> first;
    std::string first_name;
    for (ExtremeSide& side : sides) {
      if (!side.record.failure.empty()) continue;
      ExtremeAnswer answer;
      answer.set = set.name;
      answer.runner = side.plan->name;
      Result<TensorMap> outputs = Infer(side, *made.feed);
      if (outputs.status().code() == StatusCode::kCancelled) return outputs.status();
      if (shared_.interrupted.load() != 0) return Cancelled("interrupted");
      if (outputs.ok()) {
        Describe(*outputs, side.probe->runner(), answer);
        answer.beside = first_name;
        if (first) HoldAgainstFirst(*first, *outputs, answer, coverage);
        if (!first) first_name = answer.runner;
        if (!first) first = *std::move(outputs);
      } else {
        answer.failure = outputs.status().message() + NoteOfSizes(side, base.tried_sizes);
        side.probe.reset();
      }
      observer_(answer);
      record.answers.push_back(std::move(answer));
    }
    return {};
  }

  static void Describe(const TensorMap& outputs, const RunnerSession& runner,
                       ExtremeAnswer& answer) {
    CountElements(outputs, answer);
    for (const SkippedOutput& output : runner.skipped().all()) {
      answer.not_compared.push_back(output.name);
    }
  }

  std::string NoteOfSizes(const ExtremeSide& side, int64_t tried) const {
    if (side.probe == nullptr) return "";
    return NoteOfFreeSizes(plan_.inputs, side.probe->runner().session().inputs, tried);
  }

  Result<TensorMap> Infer(ExtremeSide& side, const TensorMap& feed) const {
    if (side.probe == nullptr) {  // it died of an earlier set
      VERNIER_ASSIGN_OR_RETURN(side.probe, Probe::Open(shared_, *side.plan, *side.model));
    }
    VERNIER_ASSIGN_OR_RETURN(const TensorMap own, side.probe->Coerce(feed, shared_.logger));
    return side.probe->Infer(own);
  }

  const RunPlan& plan_;
  const Probe::Shared& shared_;
  const ExtremeObserver& observer_;
};

}  // namespace

Result<ExtremesRecord> CheckExtremes(const RunPlan& plan, std::span<const ExtremeSetRow> sets,
                                     const Probe::Shared& shared, const ExtremeObserver& observer) {
  return ExtremesCheck(plan, shared, observer).Run(sets);
}

}  // namespace vernier
