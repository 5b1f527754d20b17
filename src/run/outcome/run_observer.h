// What the executor reports while it runs. report/ turns it into lines; run/ does not know how.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vernier/tensor.h"

namespace vernier {

class ComparisonTally;
struct ComparisonDetail;
struct IterationComparison;
struct Validation;

using RunnerPair = std::pair<std::string, std::string>;

class RunObserver {
 public:
  virtual ~RunObserver() = default;

  /// How much detail the reports of a comparison need.
  virtual ComparisonDetail DetailWanted() = 0;

  /// What every runner is given in an iteration, and what one of them computed. Sequential runs
  /// report a feed once for each runner. Bytes of outputs may be read only where the plan or the
  /// caller says that they are kept.
  virtual void FeedMade(int64_t /*iteration*/, const TensorMap& /*feed*/) {}
  virtual void OutputsMade(int64_t /*iteration*/, const IterationResult& /*outputs*/) {}

  virtual void ComparisonsStarted(std::span<const RunnerPair> pairs) = 0;
  virtual void IterationStarted(int64_t iteration) = 0;
  virtual void PairCompared(const IterationComparison& comparison) = 0;

  /// A pair's verdict over all iterations; not reported after --fail-fast stopped the run.
  virtual void PairFinished(const RunnerPair& pair, const ComparisonTally& tally) = 0;

  /// --validate looked at one output. `iteration` is -1 where all iterations are looked at last.
  virtual void OutputValidated(const std::string& runner, int64_t iteration,
                               const NamedTensor& output, const Validation& validation) = 0;

  /// Around a validation of all outputs.
  virtual void ValidationStarted(const std::vector<std::string>& runners) = 0;
  virtual void ValidationFinished(bool valid) = 0;

  /// A model is being opened, since so many seconds: called again and again. Nothing: it is over.
  virtual void Waiting(std::optional<double> /*seconds*/) {}

  /// Progress of the whole run; `total` is 0 when it is not known.
  virtual void Progress(int64_t done, int64_t total) = 0;
};

}  // namespace vernier
