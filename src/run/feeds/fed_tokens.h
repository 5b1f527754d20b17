// Whether the ids that a feed has for a model's embeddings are rows of them.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "model/ranges/token_tables.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// kMalformed where a feed in the names of an ONNX model has an id beyond the rows of a weight that
/// the model looks up, and a warning where one counts from the end. Nothing is known of other
/// models, nor of one that the plan changes.
Status CheckTokens(const ModelPlan& model, const TensorMap& feed, Logger& logger);

/// The same of the models of a run, each of which is read once.
class FedTokens {
 public:
  /// `plan` must outlive it.
  explicit FedTokens(const RunPlan& plan) : plan_(&plan) {}

  /// Of a feed in the names of runner `index`; --lenient leaves it to the runner.
  Status Check(size_t index, const TensorMap& feed, Logger& logger) const;

  /// Those that a runner looks an input up in; --lenient leaves them to the runner.
  std::vector<TokenTable> TablesOfInput(size_t index, const std::string& input) const;

  /// Of what --advance makes of an input: kMalformed, without its subject, where a value is beyond
  /// the rows that a runner looks up with it, or, of one that counts `down`, below 0.
  Status CheckMade(size_t index, const NamedTensor& made, bool down) const;

 private:
  const std::vector<TokenTable>& TablesOf(size_t index) const;

  const RunPlan* plan_;
  mutable std::mutex mutex_;
  mutable std::map<size_t, std::vector<TokenTable>> tables_;  // of each runner that was asked for
};

}  // namespace vernier
