// The inputs and outputs of the iterations with the worst flips, for --save-flips and --on-flips.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compare/outputs/device_measure.h"
#include "run/feeds/streams.h"
#include "run/outcome/run_outcome.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Where the outputs of --save-flips go: "flips.npz" to "flips.outputs.npz".
std::string FlipOutputsPath(const std::string& path);

/// With bytes of their own. Errors as Tensor::Copy.
Result<IterationOutputs> CopyOutputs(const IterationOutputs& outputs);

class FlipFeeds {
 public:
  /// Keeps the feed and the outputs of an iteration if it is among the worst so far, and lets go of
  /// what no longer is. The tensors share their bytes; `device` (may be null) is where bytes are
  /// that are not here. Errors as DeviceMeasure::Fetch.
  Status Keep(int64_t iteration, const TensorMap& feed, const IterationOutputs& outputs,
              std::span<const int64_t> worst, DeviceMeasure* device);

  /// What was kept elsewhere.
  void Put(int64_t iteration, TensorMap feed, IterationOutputs outputs) {
    feeds_[iteration] = std::move(feed);
    outputs_[iteration] = std::move(outputs);
  }

  bool empty() const { return feeds_.empty(); }
  /// Those that are kept, ascending.
  std::vector<int64_t> iterations() const {
    std::vector<int64_t> kept;
    for (const auto& [iteration, feed] : feeds_) kept.push_back(iteration);
    return kept;
  }

  /// The same, those of `worst` first and in their order.
  std::vector<int64_t> iterations(std::span<const int64_t> worst) const;

  /// Writes the inputs of `order`, which are kept, as --load-inputs reads them. kIo: what was at
  /// `path` is as before.
  Status Save(const std::string& path, std::span<const int64_t> order) const;

  /// Those of these iterations that are kept, in this order; they outlive the workers of the run.
  /// Errors as Tensor::Copy.
  Result<FlipInputs> Copy(std::span<const int64_t> iterations) const;

  /// Writes the outputs likewise, as --save-outputs does. Streams without outputs in one of the
  /// iterations that are kept are left out, and `left_out` has their names. kIo likewise.
  Status SaveOutputs(const std::string& path, const std::vector<std::string>& names,
                     std::span<const int64_t> order, std::vector<std::string>& left_out) const;

 private:
  std::map<int64_t, TensorMap> feeds_;  // by their iterations
  std::map<int64_t, IterationOutputs> outputs_;
};

}  // namespace vernier
