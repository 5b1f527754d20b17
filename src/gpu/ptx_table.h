// The compiled kernels, as PTX text: one module a variant, loaded when it is first needed.
#pragma once

#include <span>
#include <string_view>

namespace vernier::gpu {

struct PtxModule {
  std::string_view name;  ///< "Float32Pair"
  std::string_view text;
};

/// Empty when the program was built without nvcc.
std::span<const PtxModule> PtxModules();

}  // namespace vernier::gpu
