// Outputs that stay with a worker, on its device or as the state of its next step, until somebody
// needs their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "backend/wire/tensor_block.h"
#include "backend/worker/worker.h"
#include "compare/outputs/device_measure.h"
#include "util/log/log.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

struct MeasureRequest;
struct PairMeasures;

/// Not thread-safe, like the workers. Its tensors must end on the thread that drives them.
///
/// The bytes of a tensor that is held lie in a reserved range of addresses that cannot be read:
/// Fetch fills it, so that every copy of the tensor sees them. Whoever forgets to fetch crashes and
/// does not compare zeros.
class DeviceOutputs final : public DeviceMeasure {
 public:
  /// Says once why outputs are copied although they lie on a device.
  explicit DeviceOutputs(Logger& logger);

  /// The tensor that stands for an output that `worker` keeps. It is released with the last copy.
  Result<Tensor> Adopt(const std::shared_ptr<Worker>& worker, const KeptOutput& output);

  bool Holds(const Tensor& tensor) const override;
  /// Is it held by a worker that has ended? Its bytes are gone.
  bool Lost(const Tensor& tensor) const;
  Result<PairMeasures> Measure(const Tensor& a, const Tensor& b,
                               const MeasureRequest& request) override;
  Status Fetch(const Tensor& tensor) override;
  Status FetchAll(const TensorMap& tensors);

  /// A feed for a worker, which receives handles of tensors that it holds itself; others are
  /// fetched. nullopt: there is none that it holds.
  Result<std::optional<TensorBlock>> Encode(const TensorMap& feed, const Worker& worker);

 private:
  class Entry;
  class Ranges;

  Entry* Find(const Tensor& tensor) const;

  Logger& logger_;
  std::shared_ptr<Ranges> ranges_;
};

}  // namespace vernier
