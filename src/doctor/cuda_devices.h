// NVIDIA's driver, loaded into this process.
#pragma once

#include <string>

#include "vernier/status.h"

namespace vernier {

/// "0: NAME (compute 9.0), CUDA 12.4": every device, and what the driver supports. kUnavailable
/// without a driver or a device. A driver may crash or hang: call it in a process of its own.
Result<std::string> DescribeCudaDevices();

}  // namespace vernier
