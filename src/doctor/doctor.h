// Looks at everything that vernier can use: backends and their frameworks, Python and its packages,
// the GPU, the machine.
#pragma once

#include <string>
#include <vector>

#include "record/schema/doctor_record.h"
#include "vernier/status.h"

namespace vernier {

struct DoctorPlan {
  std::vector<std::string> backend_dirs;  ///< of plug-ins, before the usual ones
  std::string python;                     ///< the interpreter of scripts; empty: found
  std::vector<std::string> required;      ///< names of parts: one that is not usable is a fault
};

/// Examines each part, in a process of its own where it might crash or hang. Missing parts are
/// reported, and are not errors; faults are whatever prevents models from running here, and
/// required parts that are not usable.
DoctorRecord Examine(const DoctorPlan& plan);

/// "0: NAME (compute 9.0), CUDA 12.4": every device, and what the driver supports. kUnavailable
/// without a driver or a device. A driver may crash or hang: call it in a process of its own.
Result<std::string> DescribeCudaDevices();

}  // namespace vernier
