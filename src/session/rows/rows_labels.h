// Labels that are given for saved rows (`check accuracy --labels`).
#pragma once

#include <set>
#include <string>
#include <vector>

#include "run/labels/sample_labels.h"
#include "util/log/log.h"
#include "vernier/decision_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Those of `options`; folders are of the images that the rows of the file name, and `log` gets
/// which class each is. kInvalidArgument for labels that need what rows do not hold; else errors
/// of RunLabels::Open and ForEachDecisionRow.
Result<RunLabels> OpenLabelsOfRows(const std::string& path, const DecisionOptions& options,
                                   Logger& log);

/// Why nothing could drop where no decision has labels. `takes_labels`: whether one could have.
std::string WhyNoDrop(const std::string& path, const DecisionOptions& options, bool takes_labels);

/// The limits of --max-drop that name no decision with labels; `used` are the names that do.
void AddUnusedDrops(const std::string& path, const DecisionOptions& options,
                    const std::set<std::string>& used, std::vector<std::string>& sentences);

}  // namespace vernier
