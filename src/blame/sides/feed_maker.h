// The feeds of a search, made for the open sessions of both sides.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "blame/sides/search_sides.h"
#include "run/workers/runner_session.h"
#include "vernier/dim_size.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// All feeds have the inputs of both sides by their names. Errors of CollectFeeds, InputMaps and
/// AddNamesOf.
class FeedMaker {
 public:
  /// `reference` is null where it is saved. All of it outlives this.
  FeedMaker(const BlamePlan& plan, const SearchModels& models, const SearchContext& context,
            const RunnerSession* reference, const RunnerSession& candidate);

  const BlamePlan& plan() const { return plan_; }
  Logger& logger() const { return context_.logger; }

  /// Those of the first side that runs an ONNX model: what feeds are drawn for.
  const std::vector<TensorInfo>& inputs() const { return inputs_; }

  /// What the plan gives, or asks for; at least one. `drawing` hears what is said of sizes.
  Result<std::vector<TensorMap>> Make(Logger& drawing) const;

  /// The same with these sizes for free dimensions.
  Result<std::vector<TensorMap>> MakeSized(const std::vector<DimSize>& sizes) const;

  /// The first of a plan, unheard.
  Result<TensorMap> DrawFirst(const RunPlan& sized) const;

  /// Given feeds fit one side as they are, as in a run; floats of another width are for the other.
  /// kMalformed, with the reference's name.
  Status CheckGiven(std::span<const TensorMap> feeds) const;

  /// kMalformed where an id is none of the vocabulary of one of the models, as in a run.
  Status CheckTokens(std::span<const TensorMap> feeds) const;

 private:
  bool IsGiven() const;
  Result<std::vector<TensorMap>> Collect(const RunPlan& plan, Logger& drawing) const;
  Status NameForBoth(std::span<TensorMap> feeds) const;

  const BlamePlan& plan_;
  const SearchContext& context_;
  const RunnerSession* const reference_;
  const RunnerSession& candidate_;
  const std::vector<TensorInfo> inputs_;
};

struct SearchFeeds {
  std::vector<TensorMap> feeds;
  std::vector<std::string> saved_names;  ///< of a saved reference, the first iteration's outputs
  std::string shortened;  ///< why there are fewer than were given; empty: there are not
};

/// As many as a saved reference has iterations; `drawing` as of Make(). Errors of FeedMaker and of
/// reading what was saved; kInvalidArgument where that holds no iteration.
Result<SearchFeeds> MakeSearchFeeds(const FeedMaker& maker, SearchSides& sides, Logger& drawing);

}  // namespace vernier
