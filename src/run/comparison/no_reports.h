// An observer for comparisons that only need the record.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compare/functions/comparison.h"
#include "compare/functions/tally.h"
#include "compare/outputs/validate.h"
#include "run/outcome/run_observer.h"

namespace vernier {

class NoReports : public RunObserver {
 public:
  ComparisonDetail DetailWanted() override { return {}; }
  void ComparisonsStarted(std::span<const RunnerPair>) override {}
  void IterationStarted(int64_t) override {}
  void PairCompared(const IterationComparison&) override {}
  void PairFinished(const RunnerPair&, const ComparisonTally&) override {}
  void OutputValidated(const std::string&, int64_t, const NamedTensor&,
                       const Validation&) override {}
  void ValidationStarted(const std::vector<std::string>&) override {}
  void ValidationFinished(bool) override {}
  void Progress(int64_t, int64_t) override {}
};

}  // namespace vernier
