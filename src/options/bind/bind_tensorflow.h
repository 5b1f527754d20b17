// The options of TensorFlow runners, as the plug-in and the Python part understand them.
#pragma once

#include <string_view>

#include "model/onnx/model_type.h"
#include "options/words/arg_parser.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"

namespace vernier {

/// Makes every tensor an output of a TensorFlow runner.
void MarkAllOfTensorFlow(RunnerPlan& runner);

/// Options about TensorFlow's models where no runner of the plan has one, or none that is
/// converted: a warning for Polygraphy's, kInvalidArgument for --tf-signature. Nothing where the
/// run is lenient, or has a script that may use them.
Status CheckTensorFlowUse(const ParsedArgs& args, const RunPlan& plan, Logger& logger);

}  // namespace vernier
