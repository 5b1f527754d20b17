// Saved outputs as the command line names them: FILE, or LABEL=FILE.
#pragma once

#include <string>

#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

struct SavedSide {
  std::string label;  ///< empty: as the file itself says
  std::string path;
};

/// A path that exists is taken as it is, '=' included; a label holds no '/'.
SavedSide SplitSavedSide(const std::string& word);

/// Adds what the word names to plan.load_outputs and plan.load_labels.
void AddSavedSide(const std::string& word, RunPlan& plan);

/// kInvalidArgument where two loaded files, or a file and a runner, have one label.
Status CheckLabels(const RunPlan& plan);

}  // namespace vernier
