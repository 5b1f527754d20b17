// Which of TensorRT's tactic sources can be used here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vernier::trt {

/// A mask of tactic sources without those whose library is not usable: TensorRT 8 links cuBLAS,
/// cuBLASLt and cuDNN by name, and fails deep inside of a build when one is a stand-in.
struct UsableSources {
  uint32_t mask = 0;
  std::vector<std::string> cleared;  ///< "CUDNN (libcudnn.so.8: cannot open ...)"
};
UsableSources ClearUnusableSources(uint32_t mask);

}  // namespace vernier::trt
