// Elements of given ranks in streams of values on a device, found by counting digits of their keys.
#pragma once

#include <span>
#include <string_view>

#include "gpu/device_kernels.h"
#include "gpu/rank_walk.h"

namespace vernier::gpu {

/// What produces the streams: kernels with the parameters (args, DigitArgs, ...).
struct DigitSource {
  std::string_view variant;
  const char* first_kernel;   ///< counts the first digit of everything
  const char* next_kernel;    ///< counts a digit of keys with given prefixes
  const char* gather_kernel;  ///< collects keys with given prefixes
  void* args;
  unsigned blocks;
  unsigned key_bits;  ///< the larger of the streams' keys
};

/// Walks the streams, all that the kernels have, down to their keys. Each round reads the arrays
/// once, or once per kMostBuckets distinct prefixes; when few keys are left, they are collected.
Status SelectRanks(DeviceKernels& kernels, const DigitSource& source, std::span<RankWalk> walks);

}  // namespace vernier::gpu
