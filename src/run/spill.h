// Where the outputs of one runner after another wait to be compared: temporary files, read back
// one iteration at a time, so that memory does not grow with the iterations.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/results_reader.h"
#include "io/results_writer.h"
#include "run/comparison_run.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class Spill {
 public:
  /// In a new folder below $TMPDIR, which is removed with the object.
  static Result<std::unique_ptr<Spill>> Create(std::vector<std::string> runner_names);
  ~Spill();
  Spill(const Spill&) = delete;
  Spill& operator=(const Spill&) = delete;

  Status Append(size_t runner, const IterationResult& result);

  /// Ends writing; Read may follow.
  Status Seal();

  /// The iteration's outputs, one entry per runner; absent where a runner did not get so far.
  Result<IterationOutputs> Read(int64_t iteration);

 private:
  explicit Spill(std::string folder) : folder_(std::move(folder)) {}

  struct Stream {
    std::string path;
    std::unique_ptr<ResultsWriter> writer;
    std::unique_ptr<ResultsReader> reader;
    int64_t iterations = 0;
  };
  std::string folder_;
  std::vector<Stream> streams_;
};

}  // namespace vernier
