// The options of TensorRT runners, as the plug-in understands them.
#pragma once

#include <string>
#include <string_view>

#include "model/onnx/model_type.h"
#include "options/words/arg_parser.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Is this an option that only TensorRT runners look at?
bool IsForTensorRt(const OptionRow& row);

/// Adds the options given to a runner whose backend is TensorRT, as their rows say
/// (options/tensorrt_rows.h); "profile" entries hold the optimization profiles with all gaps filled
/// as Polygraphy fills them. kInvalidArgument for shapes that cannot be read and for combinations
/// that Polygraphy refuses.
Status BindTensorRt(const ParsedArgs& args, RunnerPlan& runner, Logger& logger);

}  // namespace vernier
