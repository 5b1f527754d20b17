// What OpenVINO made of a model: its kernels, and the nodes that each of them computes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ov_api.h"
#include "vernier/backend_sdk.hpp"
#include "vernier/layer_times.hpp"

namespace vernier::ov {

/// The kernels of an execution graph, as OpenVINO writes it as XML. Names list the kernel's own and
/// those of the nodes that went into it: "c1 + c1 + relu1". Types are OpenVINO's.
std::vector<sdk::LayerTime> KernelsIn(std::string_view xml);

/// The kernels of a compiled model. Empty where this OpenVINO has no way of writing its graph that
/// is known here. `scratch` names a file that may be written, and is removed.
std::vector<sdk::LayerTime> ReadKernels(const Api& api, const ov_compiled_model_t* compiled,
                                        const std::string& scratch);

/// Does the model keep variables from one inference to the next? Only OpenVINO's own format has
/// them, and the C interface lacks a function for that.
bool KeepsVariables(const vn_model& model);

}  // namespace vernier::ov
