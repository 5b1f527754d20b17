// Values beyond float16, which a float16 side rounds to infinity: masks of -1e9 and the like.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "vernier/blame_record.h"

namespace vernier {

/// The tensors that are infinite on the float16 side where the other one is finite and beyond
/// float16, as often and nowhere else, and whose readers are all within their bounds all the same,
/// or are such tensors in turn: `outputs`, those of the model, never are. Their infinite errors are
/// rounding, and become 0. `layers` are in topological order; names are the candidate's.
std::vector<std::string> ExcuseSaturation(const std::vector<std::string>& outputs,
                                          std::span<BlameLayerRecord> layers);

/// A sentence that names them; empty where there are none.
std::string DescribeSaturation(const std::vector<std::string>& tensors);

}  // namespace vernier
