// Outputs whose bytes are on a device and not here, seen from the comparison. Their tensors have
// type and shape, but their bytes must not be read before Fetch.
#pragma once

#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

struct MeasureRequest;
struct PairMeasures;

class DeviceMeasure {
 public:
  virtual ~DeviceMeasure() = default;

  /// Are the tensor's bytes elsewhere? False for any other tensor, and after Fetch.
  virtual bool Holds(const Tensor& tensor) const = 0;

  /// Of two tensors that are held. kUnimplemented or kUnavailable: this is not measured there, the
  /// tensors have to be fetched. Anything else is a failure of the device or its worker.
  virtual Result<PairMeasures> Measure(const Tensor& a, const Tensor& b,
                                       const MeasureRequest& request) = 0;

  /// Copies the bytes to the host, where every copy of the tensor sees them. No effect on a tensor
  /// that is not held.
  virtual Status Fetch(const Tensor& tensor) = 0;
};

}  // namespace vernier
