#include "cli/repeated_words.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "compare/metric_table.h"
#include "util/cast_grammar.h"

namespace vernier {
namespace {

// Lists of [NAME:]VALUE with one value for a name, beside the metrics' thresholds. Several shapes
// are used in turn, and several error statistics must all hold.
constexpr auto kOneValueEach = std::to_array<std::string_view>(
    {"atol", "rtol", "tolerance", "error_quantile", "max_mismatch_share", "max_mismatch_excess",
     "index_tolerance", "postprocess", "val_range"});

bool IsList(const OptionRow& row) {
  return row.action == OptionAction::kStore &&
         (row.arity == Arity::kPlus || row.arity == Arity::kStar);
}

Status CheckOccurrences(const ParsedArgs& args, const GivenOption& earlier) {
  const std::span<const std::string> last = args.List(earlier.row->dest);
  for (const std::string& word : earlier.values) {
    if (std::find(last.begin(), last.end(), word) != last.end()) continue;
    return InvalidArgument(std::string(earlier.flag) + ": it was given twice, and '" + word +
                           "' of the first would not be used; give all its values at once");
  }
  return {};
}

Status CheckKeys(const GivenOption& option) {
  std::set<std::string> keys;
  for (const std::string& word : option.values) {
    const bool keyed = word.find(':') != std::string::npos;
    const std::string key = keyed ? SplitAtLast(word).key : "";
    if (keys.insert(key).second) continue;
    return InvalidArgument(std::string(option.flag) + ": expected one value for " +
                           (key.empty() ? "what is not named" : "'" + key + "'") +
                           ", got another in '" + word + "'");
  }
  return {};
}

}  // namespace

bool TakesOneValueEach(const OptionRow& row) {
  const std::span<const MetricRow> metrics = MetricTable();
  return std::find(kOneValueEach.begin(), kOneValueEach.end(), row.dest) != kOneValueEach.end() ||
         std::any_of(metrics.begin(), metrics.end(),
                     [&](const MetricRow& metric) { return metric.threshold == row.dest; });
}

Status CheckRepeatedWords(const ParsedArgs& args) {
  for (const GivenOption& option : args.given()) {
    if (option.flag.empty() || !IsList(*option.row)) continue;
    VERNIER_TRY(CheckOccurrences(args, option));
    if (TakesOneValueEach(*option.row)) VERNIER_TRY(CheckKeys(option));
  }
  return {};
}

}  // namespace vernier
