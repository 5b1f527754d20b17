// Which release built an engine file, by how the file begins.
#pragma once

#include <string>
#include <string_view>

namespace vernier::trt {

/// An engine file as a message calls it, with who built it where the file says: "this engine,
/// built with TensorRT 8.6.0.12,". The file may be cut short, or be no engine at all.
std::string DescribePlan(std::string_view plan);

}  // namespace vernier::trt
