// Arrays of numbers of at most eight bits on a device, measured by counting pairs of codes.
#pragma once

#include "gpu/device_measures.h"

namespace vernier::gpu {

/// Do both have such a type and lie so that the kernels can read them, on a device that has the
/// shared memory for the counters, and are they long enough for it to pay?
bool SuitsCodes(const DeviceKernels& kernels, const DeviceElements& a, const DeviceElements& b);

/// The measures of MeasurePair, the same bits; kUnimplemented as MeasureCodeArrays.
Result<PairMeasures> MeasureCodes(DeviceKernels& kernels, const DeviceElements& a,
                                  const DeviceElements& b, const MeasureRequest& request);

}  // namespace vernier::gpu
