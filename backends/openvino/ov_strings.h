// String tensors: std::string in OpenVINO, Arrow's layout at the C boundary.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "vernier/backend_abi.h"

namespace vernier::ov {

/// Fills the data of a string tensor of `count` elements.
void StringsFromArrow(const vn_tensor& t, size_t count, void* data);

/// Offsets and bytes of such data.
std::shared_ptr<std::vector<char>> ArrowFromStrings(const void* data, size_t count);

}  // namespace vernier::ov
