// What properties of a runner ask for, made for the runner of a check.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "check/properties/properties.h"
#include "check/properties/wider_bounds.h"
#include "check/runners/sample_drawer.h"
#include "run/live/pair_error_bounds.h"
#include "vernier/run_plan.h"

namespace vernier {

class RunnerBench final : public Bench {
 public:
  /// What it is made of; all of it must outlive it.
  struct Given {
    const RunPlan& plan;  ///< with the sizes that were found
    SampleDrawer drawer;
    ProbedRunner runner;
    std::unique_ptr<Probe>& probe;  ///< of that runner, open
    const TensorMap& feed;          ///< the default one
    const TensorMap& outputs;       ///< what was made of it
    int64_t rows;                   ///< of the largest batch, where rows are drawn
  };
  explicit RunnerBench(const Given& given);
  RunnerBench(const RunnerBench&) = delete;
  RunnerBench& operator=(const RunnerBench&) = delete;

  /// Of the default outputs; they hold as long as this.
  const ErrorBounds& bounds() const { return bounds_; }

  Result<TensorMap> Draw(const FreeSizes& sizes) override;
  Result<TensorMap> Another(const TensorMap& feed) override;
  Result<std::vector<TensorMap>> DrawGiven() override;
  const RowPlan& Rows() override;
  std::vector<MeetingRows> Meeting(std::span<const BatchedInput> inputs,
                                   std::span<const std::string> outputs) override;
  std::string RefusedByAll(const TensorMap& feed) override;
  const ErrorBounds& BoundsOf(const TensorMap& feed, const TensorMap& outputs) override;
  const WidenedBounds* Widen(const TensorMap& feed) override { return wider_.For(feed); }

 private:
  std::string OthersRefuse(const TensorMap& feed) const;

  const Given given_;
  const ErrorBounds none_;
  PairErrorBounds predicted_;
  const ErrorBounds& bounds_;
  std::optional<PairErrorBounds> of_others_;
  std::optional<RowPlan> rows_;
  WiderBounds wider_;
};

}  // namespace vernier
