// The runners of a plan as words of a command line.
#pragma once

#include <string>
#include <vector>

#include "options/table/option_table.h"
#include "vernier/run_plan.h"

namespace vernier {

/// Whether the profiles of TensorRT are said. --input-shapes implies them.
enum class ProfileWords : uint8_t { kImplied, kSaid };

/// The model of the run, the runners ("--onnxrt", "--runner LABEL='BACKEND [MODEL] [OPTIONS]'") and
/// the options of those without a label. What no option says is left out, such as a runner of
/// vernier::Session with options that words have no room for: whoever uses the words binds them
/// again and compares (PlanWords).
std::vector<std::string> WordsOfRunners(const std::vector<RunnerPlan>& runners,
                                        const OptionTable& table, ProfileWords profiles);

}  // namespace vernier
