// Words of ONNX Runtime's options that can be judged before it is loaded.
#pragma once

#include "cli/arg_parser.h"
#include "util/log.h"
#include "vernier/status.h"

namespace vernier {

/// kInvalidArgument for a --graph-optimization-level that there is not, with the nearest one, and
/// for a number of threads that is none. A
/// provider that resembles one of ONNX Runtime's without being part of its name is warned of once:
/// the library that is loaded may have providers of its own, and has the last word.
Status CheckOnnxRuntimeOptions(const ParsedArgs& args, Logger& logger);

}  // namespace vernier
