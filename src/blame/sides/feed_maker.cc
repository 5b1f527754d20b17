#include "blame/sides/feed_maker.h"

#include <algorithm>
#include <utility>

#include "blame/sides/blame_feeds.h"
#include "inputs/coerce_feed.h"
#include "record/schema/runner_name.h"
#include "run/feeds/fed_tokens.h"
#include "run/feeds/plan_feeds.h"
#include "run/maps/name_maps.h"
#include "util/log/log.h"
#include "util/log/no_log.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

Status AddTensor(const RunnerSession& runner, const std::string& name, const Tensor& tensor,
                 TensorMap& feed) {
  const Tensor* const there = Find(feed, name);
  if (there == nullptr) {
    feed.push_back({name, tensor});
  } else if (there->bytes().data() != tensor.bytes().data() || there->dims() != tensor.dims()) {
    return InvalidArgument(
        "--map-inputs: blame feeds both sides the same tensor under a name, but"
        " '" +
        name + "' would be a different one for " + runner.name());
  }
  return {};
}

// Adds the inputs of an open runner to a feed that has them under other names: those that `maps`
// (--map-inputs) name, and those that type, rank and sizes pair with an input of `made_for`, which
// the feed was made for. Nothing where the runner does not say what it takes. kMalformed as
// CoerceFeed, kInvalidArgument as InputMaps, and where a name would have to stand for two
// tensors.
Status AddNamesOf(const RunnerSession& runner, const InputMaps& maps,
                  std::span<const TensorInfo> made_for, Logger& logger, TensorMap& feed) {
  const std::vector<TensorInfo>& inputs = runner.session().inputs;
  VERNIER_ASSIGN_OR_RETURN(MappedFeed own, maps.Apply(runner.name(), inputs, feed));
  if (runner.inputs_unknown()) {
    // It takes what has its names, and all in order where nothing has.
    for (const NamedTensor& tensor : own.tensors) {
      VERNIER_TRY(AddTensor(runner, tensor.name, tensor.tensor, feed));
    }
    return {};
  }
  const bool named = std::all_of(inputs.begin(), inputs.end(), [&](const TensorInfo& input) {
    return Find(own.tensors, input.name) != nullptr;
  });
  if (named && own.mapped.empty()) return {};
  if (!named) {
    CoerceOptions options;
    options.advise_lenient = false;
    options.label = WithoutTime(runner.name());
    options.made_for = made_for;
    VERNIER_ASSIGN_OR_RETURN(CoercedFeed coerced, CoerceFeed(own.tensors, inputs, options, logger));
    own.tensors = std::move(coerced.tensors);
  }
  for (const TensorInfo& input : inputs) {
    VERNIER_TRY(AddTensor(runner, input.name, *Find(own.tensors, input.name), feed));
  }
  return {};
}

std::vector<TensorInfo> InputsToFeed(const SearchModels& models, const RunnerSession& first) {
  const OnnxModel& model =
      models.reference != nullptr ? *models.reference : models.candidate.model();
  return first.inputs_unknown() ? model.RequiredInputs() : first.session().inputs;
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

}  // namespace

FeedMaker::FeedMaker(const BlamePlan& plan, const SearchModels& models,
                     const SearchContext& context, const RunnerSession* reference,
                     const RunnerSession& candidate)
    : plan_(plan),
      context_(context),
      reference_(reference),
      candidate_(candidate),
      inputs_(InputsToFeed(
          models, reference != nullptr && models.reference != nullptr ? *reference : candidate)) {}

Result<std::vector<TensorMap>> FeedMaker::Make(Logger& drawing) const {
  if (plan_.feeds.empty()) return Collect(plan_.run, drawing);
  std::vector<TensorMap> feeds = plan_.feeds;
  VERNIER_TRY(NameForBoth(feeds));
  return feeds;
}

Result<std::vector<TensorMap>> FeedMaker::MakeSized(const std::vector<DimSize>& sizes) const {
  RunPlan sized = plan_.run;
  sized.inputs.found_dims = sizes;
  return Collect(sized, context_.logger);
}

Result<TensorMap> FeedMaker::DrawFirst(const RunPlan& sized) const {
  NoLog unheard;
  VERNIER_ASSIGN_OR_RETURN(TensorMap feed, OpenFirstFeed(sized, inputs_, context_.pool, unheard));
  VERNIER_TRY(NameForBoth({&feed, 1}));
  return feed;
}

Status FeedMaker::CheckGiven(std::span<const TensorMap> feeds) const {
  if (!plan_.feeds.empty() || !IsGiven() || plan_.run.lenient || reference_ == nullptr) return {};
  for (const TensorMap& feed : feeds) {
    Status fits = ProbeSide::Takes(*reference_, feed);
    if (fits.ok() || ProbeSide::Takes(candidate_, feed).ok()) continue;
    return std::move(fits).Annotate("'" + reference_->name() + "'");
  }
  return {};
}

Status FeedMaker::CheckTokens(std::span<const TensorMap> feeds) const {
  const FedTokens tokens(plan_.run);
  for (size_t feed = 0; feed < feeds.size(); ++feed) {
    for (size_t runner = 0; runner < plan_.run.runners.size(); ++runner) {
      Status known = tokens.Check(runner, feeds[feed], context_.logger);
      if (known.ok()) continue;
      return feed == 0 ? known : std::move(known).Annotate("iteration " + std::to_string(feed));
    }
  }
  return {};
}

bool FeedMaker::IsGiven() const {
  return !plan_.run.inputs.load_paths.empty() || plan_.run.inputs.script.given();
}

Result<std::vector<TensorMap>> FeedMaker::Collect(const RunPlan& plan, Logger& drawing) const {
  VERNIER_ASSIGN_OR_RETURN(std::vector<TensorMap> feeds,
                           CollectFeeds(plan, inputs_, context_.pool, drawing));
  VERNIER_TRY(NameForBoth(feeds));
  return feeds;
}

// What runs or probes a side finds its inputs by that side's names.
Status FeedMaker::NameForBoth(std::span<TensorMap> feeds) const {
  std::vector<std::string> names;
  for (const RunnerPlan& runner : plan_.run.runners) names.push_back(runner.name);
  VERNIER_ASSIGN_OR_RETURN(const InputMaps maps,
                           InputMaps::Create(plan_.run.inputs.map_words, names));
  const bool given = IsGiven() || !plan_.feeds.empty();
  const std::vector<std::vector<TensorInfo>> both = {inputs_, candidate_.session().inputs};
  VERNIER_TRY(maps.CheckNames(both));
  for (const RunnerSession* runner : {reference_, &candidate_}) {
    if (runner == nullptr) continue;
    for (TensorMap& feed : feeds) {
      Status named = AddNamesOf(*runner, maps, inputs_, context_.logger, feed);
      // What is wrong with feeds that people gave shows when they are used.
      if (!named.ok() && (!given || !maps.empty())) return named;
    }
  }
  return {};
}

Result<SearchFeeds> MakeSearchFeeds(const FeedMaker& maker, SearchSides& sides, Logger& drawing) {
  VERNIER_ASSIGN_OR_RETURN(std::vector<TensorMap> feeds, maker.Make(drawing));
  VERNIER_TRY(maker.CheckGiven(feeds));
  VERNIER_TRY(maker.CheckTokens(feeds));
  if (sides.reference || !maker.plan().feeds.empty()) return SearchFeeds{std::move(feeds), {}, {}};
  VERNIER_ASSIGN_OR_RETURN(SavedIterations saved, LookAtSaved(sides));
  std::string shortened = WhyShortened(saved.count, feeds.size());
  if (feeds.size() > saved.count) feeds.resize(saved.count);
  return SearchFeeds{std::move(feeds), std::move(saved.names), std::move(shortened)};
}

}  // namespace vernier
