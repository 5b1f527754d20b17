// Which side is the reference and which the candidate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Places in RunPlan::runners; a saved reference has its place among the loaded runs instead.
struct Sides {
  std::optional<size_t> reference;  ///< nullopt: saved outputs
  size_t saved = 0;                 ///< the loaded run that is the reference then
  size_t candidate = 0;
};

/// BackendInfo::reference_rank of each runner of a plan, in its order.
using RanksOfRunners = std::function<std::vector<uint32_t>()>;

/// `reference` is a label (--reference) or another word for a runner (IsCalled), of which the first
/// is meant; or empty: then it is saved outputs, or the runner whose backend has the lower rank; 0
/// comes last, and ties go to the first given. `ranks` is asked where that decides. Beside an ONNX
/// model, a model in another format is the reference (IsForeign): blame follows the ONNX graph.
/// kInvalidArgument when there are not exactly two sides, when no runner has this label, or when
/// the candidate would be saved.
Result<Sides> ChooseSides(const RunPlan& plan, const std::vector<std::string>& loaded,
                          const std::string& reference, const RanksOfRunners& ranks);

/// The checks that are possible before a file is loaded, each of which stands for at least one
/// side; and that saved outputs come with the inputs that they were made from. kInvalidArgument.
Status CheckSides(const RunPlan& plan, const std::string& reference);

}  // namespace vernier
