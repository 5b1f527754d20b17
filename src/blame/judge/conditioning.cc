#include "blame/judge/conditioning.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>

#include "blame/judge/tensor_judge.h"
#include "inputs/cast_tensor.h"
#include "model/rounding/unit_roundoff.h"
#include "run/runner/nudged_floats.h"

namespace vernier {
namespace {

// Below, the bound of a well-conditioned node has room for it.
constexpr double kFew = 8;
constexpr uint64_t kConditionDraws = 3;
// Of float32: inputs of float64 are as a rule computed from such.
constexpr double kLongestRoundoff = 0x1p-24;

using Conditions = std::vector<std::vector<double>>;

// The inputs of some islands as they are fed, nudged; all others as they are.
class NudgedInputs {
 public:
  explicit NudgedInputs(uint64_t draw) : draw_(draw) {}

  Status Add(std::string_view name, const IslandFeed& feed) {
    const Tensor* given = feed.values(name);
    if (given == nullptr || nudged_.contains(std::string(name))) return {};
    Tensor fed = *given;
    const DType wanted = feed.declared(name).dtype;
    if (CanNudge(wanted) && CanCast(fed.dtype(), wanted) && fed.dtype() != wanted) {
      VERNIER_ASSIGN_OR_RETURN(fed, CastTensor(fed, wanted));
    }
    VERNIER_ASSIGN_OR_RETURN(nudged_[std::string(name)], NudgeFloats(fed, {draw_}));
    return {};
  }

  /// Of the coarsest of these inputs; 0 when none is a float.
  double RoundoffOf(std::span<const std::string_view> names) const {
    double roundoff = 0;
    for (const std::string_view name : names) {
      const auto found = nudged_.find(std::string(name));
      if (found == nudged_.end() || !CanNudge(found->second.dtype())) continue;
      roundoff = std::max(roundoff, UnitRoundoff(found->second.dtype()));
    }
    return roundoff;
  }

  TensorSource Over(const TensorSource& source) const {
    return [this, &source](std::string_view name) -> const Tensor* {
      const auto found = nudged_.find(std::string(name));
      return found != nudged_.end() ? &found->second : source(name);
    };
  }

 private:
  const uint64_t draw_;
  std::unordered_map<std::string, Tensor> nudged_;
};

std::vector<std::vector<Tensor>> Copies(const std::vector<IslandResult>& results,
                                        std::span<const SuspectIsland> suspects) {
  std::vector<std::vector<Tensor>> copies;
  for (const SuspectIsland& suspect : suspects) {
    std::vector<Tensor>& outputs = copies.emplace_back();
    for (const Tensor* output : results[suspect.island].outputs) {
      outputs.push_back(output == nullptr ? Tensor() : *output);
    }
  }
  return copies;
}

// Takes away what moves on the same inputs, too: that is randomness and no amplified rounding.
Status DropRandom(IslandBench& bench, std::span<const SuspectIsland> suspects,
                  const IslandFeed& feed, std::vector<std::vector<Tensor>>& before) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<IslandResult> results, bench.Run(feed));
  for (size_t i = 0; i < suspects.size(); ++i) {
    const size_t island = suspects[i].island;
    const std::vector<const Tensor*>& again = results[island].outputs;
    for (size_t k = 0; k < again.size() && k < before[i].size(); ++k) {
      if (again[k] == nullptr) continue;
      const ErrorBound bound = bench.BoundOf(island, k, *again[k]);
      const double roundoff = std::max(UnitRoundoff(again[k]->dtype()), kLongestRoundoff);
      const bool repeats = JudgeTensor(before[i][k], *again[k], bound).rms <= kFew * roundoff;
      if (!repeats) before[i][k] = Tensor();
    }
  }
  return {};
}

bool AllExplained(std::span<const SuspectIsland> suspects, const Conditions& conditions) {
  for (size_t i = 0; i < suspects.size(); ++i) {
    for (size_t k = 0; k < suspects[i].errors.size(); ++k) {
      const double error = suspects[i].errors[k];
      if (std::isfinite(error) && error > conditions[i][k]) return false;
    }
  }
  return true;
}

// The inputs of all suspects.
Result<NudgedInputs> NudgeIslands(const IslandBench& bench, std::span<const SuspectIsland> suspects,
                                  const IslandFeed& feed, uint64_t draw) {
  NudgedInputs nudged(draw);
  for (const SuspectIsland& suspect : suspects) {
    for (const std::string_view name : bench.InputsOf(suspect.island)) {
      VERNIER_TRY(nudged.Add(name, feed));
    }
  }
  return nudged;
}

// Raises `conditions` to what one draw shows, of which these are the results. `before`: what the
// suspects make of the inputs as they are, without type where that tells nothing.
void RaiseConditions(const IslandBench& bench, std::span<const SuspectIsland> suspects,
                     const std::vector<IslandResult>& results, const NudgedInputs& nudged,
                     const std::vector<std::vector<Tensor>>& before, Conditions& conditions) {
  for (size_t i = 0; i < suspects.size(); ++i) {
    const size_t island = suspects[i].island;
    const double roundoff = nudged.RoundoffOf(bench.InputsOf(island));
    const std::vector<const Tensor*>& after = results[island].outputs;
    for (size_t k = 0; k < after.size() && k < before[i].size(); ++k) {
      const bool told = after[k] != nullptr && before[i][k].dtype() != DType::kUndefined;
      if (!told || roundoff == 0) continue;
      const ErrorBound bound = bench.BoundOf(island, k, *after[k]);
      const double steps = JudgeTensor(before[i][k], *after[k], bound).rms / roundoff;
      if (!std::isfinite(steps) || steps <= kFew) continue;
      conditions[i][k] = std::max(conditions[i][k], steps);
    }
  }
}

}  // namespace

Result<Conditions> MeasureConditions(IslandBench& bench, std::span<const SuspectIsland> suspects,
                                     const IslandFeed& feed) {
  Conditions conditions;
  for (const SuspectIsland& suspect : suspects) {
    conditions.emplace_back(suspect.errors.size(), 1.0);
  }
  std::vector<std::vector<Tensor>> before;
  {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<IslandResult> results, bench.Run(feed));
    before = Copies(results, suspects);
  }
  VERNIER_TRY(DropRandom(bench, suspects, feed, before));
  for (uint64_t draw = 0; draw < kConditionDraws && !AllExplained(suspects, conditions); ++draw) {
    VERNIER_ASSIGN_OR_RETURN(const NudgedInputs nudged, NudgeIslands(bench, suspects, feed, draw));
    const TensorSource values = nudged.Over(feed.values);
    VERNIER_ASSIGN_OR_RETURN(const std::vector<IslandResult> results,
                             bench.Run({values, feed.declared}));
    RaiseConditions(bench, suspects, results, nudged, before, conditions);
  }
  bench.DropResults();
  return conditions;
}

}  // namespace vernier
