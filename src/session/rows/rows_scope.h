// Which decisions of saved rows are judged, and whether the rows are all of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "record/rows/decision_rows.h"
#include "vernier/decision_plan.h"
#include "vernier/row_record.h"
#include "vernier/status.h"

namespace vernier {

/// The decisions that --decision names; all where it names none.
class RowSelection {
 public:
  /// `wanted` must outlive the object.
  explicit RowSelection(std::span<const DecisionPlan> wanted) : wanted_(wanted) {}

  /// Whether it is judged. Notes that it is there.
  bool Takes(const DecisionRow& decision);

  /// kInvalidArgument, with what the rows have, for a name that none of their decisions has.
  Status CheckFound(const std::string& path) const;

 private:
  std::span<const DecisionPlan> wanted_;
  std::set<size_t> found_;        // of wanted_
  std::set<std::string> others_;  // that are not judged, by their names
};

/// The shards whose rows are in a file.
class ShardsOfRows {
 public:
  void Add(const RowsShard& shard);

  /// Why they are not the rows of a run; empty: they are, or are of no shard.
  std::string WhyNotAll(const std::string& path) const;

 private:
  std::set<int64_t> numbers_;
  std::set<int64_t> counts_;
  std::set<std::string> runs_;
};

/// Of one pair. Iterations come in their order.
struct PairRows {
  int64_t count = 0;
  int64_t next = 0;            ///< iteration
  std::optional<int64_t> gap;  ///< the first that is missing
};

/// Counts one more. kMalformed for a duplicate row, which would count twice.
Status CountRow(const std::string& path, const IterationRow& row, PairRows& rows);

/// Why a file lacks rows that were saved: those that were lost after a complete one would go
/// unnoticed. Empty: it has.
std::string WhyNotWhole(const std::string& path, const RowsExtent& extent);

}  // namespace vernier
