// Rows as JSON lines, which is how they are saved during a run, and as columns.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "vernier/row_record.h"
#include "vernier/status.h"

namespace vernier {

/// One line without its end: index, step, pair and input_hash, of a file as input input_name,
/// input_index and input_count, then OUTPUT/STATISTIC for what was
/// measured, OUTPUT percent-encoded as in saved files. Numbers that are not finite are the texts
/// "nan", "inf" and "-inf", as in records. Of decisions: OUTPUT/decision, the kind, and
/// OUTPUT/flip, /near_tie, /similarity and, where there is one, /detail; SIDE/OUTPUT/decision and
/// SIDE/OUTPUT/margin of either side; each a list where the iteration has several samples. Of
/// further decisions about an output, OUTPUT:KIND stands in the place of OUTPUT. With labels,
/// `label` (OUTPUT/label where a decision has others) and SIDE/OUTPUT/score. Of --decode:
/// SIDE/tokens, a list where the batch has several prompts, and after_divergence, 1 or 0; after_end
/// where it is 1.
std::string RowLine(const IterationRow& row);

/// "2/3".
std::string ShardText(const RowsShard& shard);

/// The last line of a file: `row_count` says how many lines the file has, so that one that was cut
/// off after a line does not count as complete; with the lists `not_done` and `unfit_labels` of its
/// run, where they are not empty, and `shard`, where the run was one.
std::string WithRowsEnd(const std::string& line, size_t row_count, const RowsEnd& end);

/// Columns hold a value for each row; where a row has none: NaN, or "" among texts.
struct RowColumn {
  std::string name;
  /// Integers where every row has one, else numbers; texts where any value is one. Of lists: all
  /// that a row has, then NaN or "" up to `width`.
  std::variant<std::vector<int64_t>, std::vector<double>, std::vector<std::string>> values;
  size_t width = 1;  ///< values of each row
};

/// The rows of a file of JSON lines as columns, in the order in which their names first appear. One
/// of them is in memory at a time; the others wait in a file without a name beside `path`. kIo when
/// it cannot be read; kMalformed, naming the line, for what is no row, and for lists of which few
/// are by far the longest; and what `take` returns.
Status ForEachRowColumn(const std::string& path,
                        const std::function<Status(RowColumn column)>& take);

}  // namespace vernier
