// What kernels/measures/pair_measures.h measures, of arrays that lie on a CUDA device. Nothing but
// tallies leaves the device.
//
// Counts, places, extrema, the worst ratio, medians and quantiles are the same bits as those of
// MeasurePair. Sums (means, variances, products) are in float64 and within 1e-12 of the sum of
// magnitudes; their bits depend on the arrays alone, not on the GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "gpu/device_kernels.h"
#include "vernier/dtype.h"
#include "vernier/status.h"

namespace vernier {
struct MeasureRequest;
struct PairMeasures;
}  // namespace vernier

namespace vernier::gpu {

/// Elements of one tensor on a device, laid out as in ElementSpan.
struct DeviceElements {
  DType dtype = DType::kUndefined;
  cuda::DevicePointer data = 0;
  int64_t count = 0;
  cuda::Event ready = nullptr;  ///< to wait for; null: the elements are there
};

/// Why this pair or request cannot be measured on a device, or ok. The caller then uses copies and
/// MeasurePair. Not offered: complex numbers and strings, distances in units in the last place,
/// lists of the worst elements, products of 64-bit integers, whose differences float64 would round;
/// and, known only while measuring, sums and squares beyond the largest float64.
Status CheckOffered(DType a, DType b, const MeasureRequest& request);

class DeviceMeasures {
 public:
  /// As DeviceKernels::Open.
  static Result<DeviceMeasures> Open(int ordinal);

  /// kUnimplemented as CheckOffered; kInvalidArgument as MeasurePair; kBackend when CUDA fails.
  Result<PairMeasures> Measure(const DeviceElements& a, const DeviceElements& b,
                               const MeasureRequest& request);

  DeviceKernels& kernels() { return *kernels_; }

 private:
  explicit DeviceMeasures(std::unique_ptr<DeviceKernels> kernels) : kernels_(std::move(kernels)) {}

  std::unique_ptr<DeviceKernels> kernels_;
};

}  // namespace vernier::gpu
