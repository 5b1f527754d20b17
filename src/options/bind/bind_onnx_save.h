// From saving flags to how an ONNX model is written.
#pragma once

#include "model/edit/onnx_save.h"
#include "options/words/arg_parser.h"
#include "util/log/log.h"
#include "vernier/status.h"

namespace vernier {

/// Where the weights of a model are, and where they are to go. kInvalidArgument for a size that is
/// none; a warning for one without effect.
Result<SaveOnnxOptions> BindOnnxSave(const ParsedArgs& args, Logger& log);

}  // namespace vernier
