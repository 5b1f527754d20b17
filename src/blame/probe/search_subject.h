// What the steps of a search are given once both sides have run.
#pragma once

#include <optional>
#include <vector>

#include "blame/graph/blame_graph.h"
#include "blame/judge/amplified_rounding.h"
#include "blame/probe/unprobed_run.h"
#include "blame/sides/search_sides.h"
#include "vernier/blame_record.h"

namespace vernier {

/// What a search is about. All of it outlives the steps.
struct SearchSubject {
  const BlamePlan& plan;
  const SearchContext& context;
  SearchSides& sides;
  const SearchModels& models;
  UnprobedRun& unprobed;

  const BlameGraph& graph() const { return models.candidate; }
};

/// What the batches so far show about tensors. Names are the candidate's, views into its graph.
struct TensorFindings {
  NameSet visible;             ///< both sides presumably expose them
  NameSet disputed;            ///< their total errors are over their bounds
  AmplifiedTensors amplified;  ///< as EaseTotals
  std::vector<UnexposedTensor> unexposed;
  std::optional<NonFiniteRecord> first_nonfinite;
};

}  // namespace vernier
