// The reference's tensors, computed here and now or saved.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "blame/sides/probe_side.h"
#include "blame/sides/tensor_pairs.h"
#include "run/saved/saved_runs.h"

namespace vernier {

/// Tensors by the names of the candidate's graph.
using TensorsByName = std::unordered_map<std::string_view, Tensor>;

/// Where the reference's tensors come from. All of it outlives it.
struct ReferenceSource {
  const TensorPairs& pairs;
  ProbeSide* live;  ///< null: it is saved
  SavedRuns& saved;
  size_t saved_run;  ///< of `saved`; 0 where it is live
  Logger& logger;
};

class ReferenceProbe {
 public:
  ReferenceProbe(const ReferenceSource& source, std::vector<UnexposedTensor>& unexposed,
                 AfterUse after_use = AfterUse::kClose)
      : source_(source), unexposed_(unexposed) {
    if (source.live != nullptr) {
      sessions_ = std::make_unique<ProbeSessions>(*source.live, unexposed, after_use);
    }
  }

  /// Begins to fetch, where they are computed: see ProbeSessions::Begin.
  void Begin(const std::vector<std::string_view>& names, const TensorMap& feed);

  /// Adds the tensors of these names, which must be paired, to `into`; what is not available is
  /// missing. kCancelled, and kMalformed for a damaged file.
  Status Fetch(const std::vector<std::string_view>& names, const TensorMap& feed, int64_t iteration,
               TensorsByName& into);

 private:
  std::vector<std::string> OwnNames(const std::vector<std::string_view>& names) const;

  const ReferenceSource source_;
  std::vector<UnexposedTensor>& unexposed_;
  std::unique_ptr<ProbeSessions> sessions_;
};

}  // namespace vernier
