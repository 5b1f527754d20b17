// Inputs as the command line describes them, if a model declares little or nothing about them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "run/workers/runner_session.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// What `shape_words` (--input-shapes) say, as float32 unless they say another type. `silent` (may
/// be null) is a runner whose inputs_unknown(): its input names, if it has any, are checked against
/// them. kInvalidArgument where a shape is missing.
Result<std::vector<TensorInfo>> DescribedInputs(std::span<const std::string> shape_words,
                                                const RunnerSession* silent);

/// For the end of a message that inputs drawn for `taken` could not be computed with: which of them
/// have free sizes, that were taken as 1, and that none of `tried` other sizes worked. Empty
/// where there are none, where inputs were given, or where sizes were and none was tried; and where
/// `tried` is negative: sizes are known not to be the cause.
std::string NoteOfFreeSizes(const InputPlan& plan, std::span<const TensorInfo> taken,
                            int64_t tried = 0);

}  // namespace vernier
