#include "session/rows/rows_scope.h"

#include "record/schema/gate_text.h"
#include "util/values/joined.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

bool Names(const DecisionPlan& wanted, const DecisionRow& decision) {
  if (wanted.text != decision.kind) return false;
  return wanted.output.empty() || wanted.output == decision.output;
}

}  // namespace

bool RowSelection::Takes(const DecisionRow& decision) {
  if (wanted_.empty()) return true;
  bool takes = false;
  for (size_t i = 0; i < wanted_.size(); ++i) {
    if (!Names(wanted_[i], decision)) continue;
    takes = true;
    found_.insert(i);
  }
  if (!takes) others_.insert(DecisionName(decision.kind, decision.output));
  return takes;
}

Status RowSelection::CheckFound(const std::string& path) const {
  for (size_t i = 0; i < wanted_.size(); ++i) {
    if (found_.contains(i)) continue;
    const DecisionPlan& wanted = wanted_[i];
    return InvalidArgument("--decision " + (wanted.output.empty() ? "" : wanted.output + ":") +
                           wanted.text + ": '" + path + "' has no such decision" +
                           (others_.empty() ? "" : "; beside those that are named it has ") +
                           Joined(others_));
  }
  return {};
}

void ShardsOfRows::Add(const RowsShard& shard) {
  numbers_.insert(shard.number);
  counts_.insert(shard.count);
  runs_.insert(shard.run);
}

std::string ShardsOfRows::WhyNotAll(const std::string& path) const {
  if (numbers_.empty()) return "";
  const int64_t count = *counts_.begin();
  const bool all = counts_.size() == 1 && std::ssize(numbers_) == count;
  if (all && runs_.size() == 1) return "";
  if (all) {
    return "'" + path +
           "' has shards of several runs: their models, options or labels differ, and "
           "gates are about all samples of one run";
  }
  std::string numbers;
  for (const int64_t number : numbers_) {
    numbers += (numbers.empty() ? "" : ", ") + std::to_string(number);
  }
  return "'" + path + "' has the rows of " + Verb(numbers_.size(), "shard ", "shards ") + numbers +
         (counts_.size() == 1 ? " of " + std::to_string(count) : " of several runs") +
         " alone, and gates are about all samples: join the rows of all shards in their order, or "
         "take those that `vernier merge` saves";
}

std::string WhyNotWhole(const std::string& path, const RowsExtent& extent) {
  if (extent.whole() || extent.rows == 0) return "";
  if (!extent.ended) {
    return "'" + path + "' ends after " + Counted(extent.rows, "row") +
           ", of which the last does not say how many there were ('row_count'): the file was cut "
           "off, its run was killed, or an earlier version saved it";
  }
  return "'" + path + "' has " + Counted(extent.rows, "row") + ", and " +
         Counted(extent.saved, "was", "were") + " saved: rows were removed or added";
}

Status CountRow(const std::string& path, const IterationRow& row, PairRows& rows) {
  if (row.index < rows.next) {
    return Malformed("'" + path + "': " + row.pair + ": iteration " + std::to_string(row.index) +
                     " follows iteration " + std::to_string(rows.next - 1) +
                     ", and rows of one run have each once, in order: check the rows of each run "
                     "on their own");
  }
  if (row.index > rows.next && !rows.gap) rows.gap = rows.next;
  rows.next = row.index + 1;
  ++rows.count;
  return {};
}

}  // namespace vernier
