// Labels that are given for saved rows (`check accuracy --labels`).
#pragma once

#include <string>

#include "run/comparison/sample_labels.h"
#include "util/log.h"
#include "vernier/decision_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Those of `options`; folders are of the images that the rows of the file name, and `log` gets
/// which class each is. kInvalidArgument for labels that need what rows do not hold; else errors
/// of RunLabels::Open and ForEachDecisionRow.
Result<RunLabels> OpenLabelsOfRows(const std::string& path, const DecisionOptions& options,
                                   Logger& log);

}  // namespace vernier
