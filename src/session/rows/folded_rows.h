// Rows of decisions, folded into the figures of each decision. Internal to this folder.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "decide/gates/decision_fold.h"
#include "record/rows/decision_rows.h"
#include "run/labels/sample_labels.h"
#include "session/rows/rows_labels.h"
#include "session/rows/rows_scope.h"
#include "session/rows/rows_verdicts.h"
#include "vernier/row_record.h"

namespace vernier {

struct FoldedDecision {
  std::string pair;
  std::string output, kind;
  DecisionFold fold;
  DecisionPlan plan;
  LabelTrack labels;
  std::optional<int64_t> classes = {};  // that the output has, as far as rows say
  int64_t rows = 0;                     // that have it
  int64_t relabelled = 0;               // samples whose folder says another label than the row
  bool counts_classes = true;           // where labels are given: each of its rows has their number
};

struct FoldedRows {
  std::vector<FoldedDecision> decisions;
  std::map<std::string, PairRows> rows;  // of each pair
  RowsEnd end;
  RowsExtent extent;
  ShardsOfRows shards;
  FailedOutputs failed;
};

struct RowRules {
  DecisionOptions& options;  // its decisions become those of the first row
  RunLabels& labels;
  RowSelection& selection;
};

/// Reads a file of rows. Errors of ForEachDecisionRow() and of RowSelection.
Result<FoldedRows> FoldRows(const std::string& path, const RowRules& rules);

}  // namespace vernier
