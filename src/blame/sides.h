// Who is the reference and who is accused.
#pragma once

#include <cstddef>
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

/// `reference` is a label (--reference) or another word for a runner (IsCalled), of which the first
/// is meant; or empty: then the first present of saved outputs, onnxref, onnxrt, openvino, torch,
/// tf, trt; ties go to the first given. kInvalidArgument when there are not exactly two sides, when
/// no runner has this label, or when the candidate would be saved.
Result<Sides> ChooseSides(const RunPlan& plan, const std::vector<std::string>& loaded,
                          const std::string& reference);

/// What of that can be said before a file is loaded, each of which stands for one side at least;
/// and that saved outputs come with the inputs that they were made from. kInvalidArgument.
Status CheckSides(const RunPlan& plan, const std::string& reference);

}  // namespace vernier
