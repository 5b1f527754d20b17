#include "blame/conditioning.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>

#include "blame/tensor_judge.h"
#include "inputs/cast_tensor.h"
#include "model/unit_roundoff.h"
#include "run/nudged_floats.h"

namespace vernier {
namespace {

// Below, the bar of a well-conditioned node has room for it.
constexpr double kFew = 8;

// The inputs of some islands as they are fed, nudged; all others as they are.
class NudgedInputs {
 public:
  Status Add(std::string_view name, const TensorSource& source, const TensorLookup& as_fed) {
    const Tensor* given = source(name);
    if (given == nullptr || nudged_.contains(std::string(name))) return {};
    Tensor fed = *given;
    const DType wanted = as_fed(name).dtype;
    if (CanNudge(wanted) && CanCast(fed.dtype(), wanted) && fed.dtype() != wanted) {
      VERNIER_ASSIGN_OR_RETURN(fed, CastTensor(fed, wanted));
    }
    VERNIER_ASSIGN_OR_RETURN(nudged_[std::string(name)], NudgeFloats(fed));
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
  std::unordered_map<std::string, Tensor> nudged_;
};

std::vector<std::vector<Tensor>> Copies(const std::vector<IslandResult>& results,
                                        std::span<const size_t> which) {
  std::vector<std::vector<Tensor>> copies;
  for (const size_t island : which) {
    std::vector<Tensor>& outputs = copies.emplace_back();
    for (const Tensor* output : results[island].outputs) {
      outputs.push_back(output == nullptr ? Tensor() : *output);
    }
  }
  return copies;
}

}  // namespace

Result<std::vector<double>> MeasureConditions(IslandBench& bench, std::span<const size_t> which,
                                              const TensorSource& source,
                                              const TensorLookup& as_fed) {
  std::vector<double> conditions(which.size(), 1);
  NudgedInputs nudged;
  std::vector<double> roundoffs;
  for (const size_t island : which) {
    const std::vector<std::string_view> names = bench.InputsOf(island);
    for (const std::string_view name : names) VERNIER_TRY(nudged.Add(name, source, as_fed));
    roundoffs.push_back(nudged.RoundoffOf(names));
  }
  VERNIER_ASSIGN_OR_RETURN(std::vector<IslandResult> results, bench.Run(source));
  const std::vector<std::vector<Tensor>> before = Copies(results, which);
  VERNIER_ASSIGN_OR_RETURN(results, bench.Run(nudged.Over(source)));
  for (size_t i = 0; i < which.size(); ++i) {
    const std::vector<const Tensor*>& after = results[which[i]].outputs;
    for (size_t k = 0; k < after.size() && k < before[i].size(); ++k) {
      if (after[k] == nullptr || roundoffs[i] == 0) continue;
      const ErrorBar bar = bench.BarOf(which[i], k, *after[k]);
      const double steps = JudgeTensor(before[i][k], *after[k], bar).rms / roundoffs[i];
      if (std::isfinite(steps) && steps > kFew) conditions[i] = std::max(conditions[i], steps);
    }
  }
  bench.DropResults();
  return conditions;
}

}  // namespace vernier
