// Where the outputs of one runner after another wait to be compared: temporary files, read back
// one iteration at a time, so that memory does not grow with the iterations.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/journal/tensor_spill.h"
#include "run/feeds/streams.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class OutputSpill {
 public:
  /// In files without names in $TMPDIR: they are gone when the process is, even if it is killed.
  static Result<std::unique_ptr<OutputSpill>> Create(size_t runners);

  Status Append(size_t runner, const IterationResult& result);

  /// The iteration's outputs, one entry per runner; absent where a runner did not get so far.
  Result<IterationOutputs> Read(int64_t iteration);

 private:
  struct Details {
    std::string runner_name;
    std::optional<double> runtime_s;
  };
  struct Stream {
    TensorSpill tensors;
    std::vector<Details> details;  // parallel to the tensors
  };

  OutputSpill() = default;

  std::vector<Stream> streams_;
};

}  // namespace vernier
