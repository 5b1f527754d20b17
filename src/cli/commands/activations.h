// What runners compute, or have saved, for tensors of a model.
#pragma once

#include <string>

#include "cli/arg_parser.h"
#include "cli/bind_run.h"
#include "model/onnx_model.h"
#include "vernier/status.h"

namespace vernier {

/// Lines with the statistics of the values of a node's tensors, or of all tensors where `layer` is
/// empty: first those of --load-outputs, then those that each runner of the command line computes
/// for the first feed. kNotFound when none of the tensors can be had.
Result<std::string> DescribeActivations(const ParsedArgs& args, const Invocation& invocation,
                                        const OnnxModel& model, const std::string& layer,
                                        Logger& log);

}  // namespace vernier
