#include "run/parts/folded_comparison.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <variant>

namespace vernier {
namespace {

ShardAverages KeepAverages(const SimpleResult& simple) {
  const ValueStatistics& absolute = simple.difference.absolute;
  const ValueStatistics& relative = simple.difference.relative;
  const auto last = [](const ValueStatistics& statistics) {
    return statistics.quantiles.empty() ? std::numeric_limits<double>::quiet_NaN()
                                        : statistics.quantiles.back();
  };
  ShardAverages kept = {.atol = simple.atol,
                        .rtol = simple.rtol,
                        .stats = {},
                        .max = absolute.max,
                        .mean = absolute.mean,
                        .median = absolute.median,
                        .quantile = last(absolute),
                        .relative_max = relative.max,
                        .relative_mean = relative.mean,
                        .relative_median = relative.median,
                        .relative_quantile = last(relative)};
  for (const RequiredTolerance& required : simple.required) {
    kept.stats.push_back(static_cast<int64_t>(required.stat));
  }
  return kept;
}

std::optional<ShardTokens> KeepTokens(const LogitsResult& logits) {
  if (logits.tokens.tokens.empty() && logits.tokens.mask.empty()) return std::nullopt;
  const bool rows = logits.tokens.rows > 0;
  return ShardTokens{.source = logits.tokens.tokens,
                     .mask = logits.tokens.mask,
                     .positions = logits.measures.positions,
                     .excluded = logits.measures.excluded,
                     .rows = rows ? std::optional(logits.tokens.rows) : std::nullopt,
                     .first_row = rows ? std::optional(logits.tokens.first_row) : std::nullopt,
                     .sums = logits.measures.tokens.sums()};
}

// Of `logits` what PairRecorder takes of tokens.
void RestoreTokens(const ShardTokens& kept, LogitsResult& logits) {
  logits.tokens.tokens = kept.source;
  logits.tokens.mask = kept.mask;
  logits.tokens.rows = kept.rows.value_or(0);
  logits.tokens.first_row = kept.first_row.value_or(0);
  logits.measures.positions = kept.positions;
  logits.measures.excluded = kept.excluded;
  logits.measures.tokens = TokenLosses(kept.sums);
}

ShardFunction KeepFunction(const FunctionResult& result, bool averaged) {
  ShardFunction kept;
  kept.function = CompareFunctionName(result.function);
  kept.verdict = static_cast<int64_t>(result.verdict);
  kept.why = result.why;
  kept.shapes_differ = result.shapes_differ;
  if (const auto* metric = std::get_if<MetricResult>(&result.data)) {
    kept.value = metric->value;
    kept.threshold = metric->threshold;
  }
  if (const auto* simple = std::get_if<SimpleResult>(&result.data)) {
    kept.simple = ShardSimple{simple->allowed_share, simple->allowed_excess, std::nullopt};
    if (averaged) kept.simple->averages = KeepAverages(*simple);
  }
  if (const auto* logits = std::get_if<LogitsResult>(&result.data)) {
    kept.logits = logits->measures;
    kept.tokens = KeepTokens(*logits);
  }
  return kept;
}

// False for a number that no enumerator has, of which `last` is the last one.
template <typename Enum>
bool TakeEnum(int64_t number, Enum last, Enum& value) {
  if (number < 0 || number > static_cast<int64_t>(last)) return false;
  value = static_cast<Enum>(number);
  return true;
}

bool RestoreAverages(const ShardAverages& kept, SimpleResult& simple) {
  simple.atol = kept.atol;
  simple.rtol = kept.rtol;
  for (const int64_t stat : kept.stats) {
    if (!TakeEnum(stat, ErrorStat::kQuantile, simple.required.emplace_back().stat)) return false;
  }
  ValueStatistics& absolute = simple.difference.absolute;
  ValueStatistics& relative = simple.difference.relative;
  absolute.max = kept.max;
  absolute.mean = kept.mean;
  absolute.median = kept.median;
  absolute.quantiles = {kept.quantile};
  relative.max = kept.relative_max;
  relative.mean = kept.relative_mean;
  relative.median = kept.relative_median;
  relative.quantiles = {kept.relative_quantile};
  return true;
}

bool RestoreFunction(const ShardFunction& kept, FunctionResult& result) {
  const auto function = CompareFunctionFromName(kept.function);
  if (!function || !TakeEnum(kept.verdict, Verdict::kNotVerified, result.verdict)) return false;
  result.function = *function;
  result.why = kept.why;
  result.shapes_differ = kept.shapes_differ;
  if (kept.value && kept.threshold) result.data = MetricResult{*kept.value, *kept.threshold};
  if (kept.logits || kept.tokens) {
    LogitsResult& logits = result.data.emplace<LogitsResult>();
    if (kept.logits) static_cast<LogitAgreement&>(logits.measures) = *kept.logits;
    if (kept.tokens) RestoreTokens(*kept.tokens, logits);
  }
  if (!kept.simple) return true;
  SimpleResult& simple = result.data.emplace<SimpleResult>();
  simple.allowed_share = kept.simple->allowed_share;
  simple.allowed_excess = kept.simple->allowed_excess;
  return !kept.simple->averages || RestoreAverages(*kept.simple->averages, simple);
}

bool RestoreOutput(const ShardOutput& kept, OutputComparison& output) {
  output.a_name = kept.row.output;
  output.b_name = kept.other_name;
  output.a_dtype = DTypeFromName(kept.dtype).value_or(DType::kUndefined);
  output.b_dtype = kept.other_dtype.empty()
                       ? output.a_dtype
                       : DTypeFromName(kept.other_dtype).value_or(DType::kUndefined);
  output.vacuous = kept.vacuous;
  if (!kept.mask.empty() && kept.positions && kept.excluded) {
    output.masked.emplace();
    output.masked->mask = kept.mask;
    output.masked->positions = *kept.positions;
    output.masked->excluded = *kept.excluded;
    output.masked->differ = kept.mismatches.has_value();
    output.masked->mismatches = kept.mismatches.value_or(0);
  }
  if (!TakeEnum(kept.paired_by, PairedBy::kStructure, output.how)) return false;
  return std::ranges::all_of(kept.functions, [&](const ShardFunction& function) {
    return RestoreFunction(function, output.functions.emplace_back());
  });
}

void KeepMasked(const MaskedPositions& masked, ShardOutput& kept) {
  kept.mask = masked.mask;
  kept.positions = masked.positions;
  kept.excluded = masked.excluded;
  if (masked.differ) kept.mismatches = masked.mismatches;
}

}  // namespace

ShardPair MakeShardPair(const IterationComparison& comparison, std::span<const OutputRow> rows,
                        const PairRecord& folded, int64_t index, bool averaged) {
  ShardPair kept;
  kept.only_in_first = comparison.pairing.left_only;
  kept.only_in_second = comparison.pairing.right_only;
  kept.without_verdict = comparison.without_verdict;
  kept.not_logits = comparison.not_logits;
  kept.empty = comparison.empty();
  for (size_t place = 0; place < comparison.outputs.size(); ++place) {
    const OutputComparison& output = comparison.outputs[place];
    ShardOutput& made = kept.outputs.emplace_back();
    made.row = rows[place];
    made.other_name = output.b_name;
    made.paired_by = static_cast<int64_t>(output.how);
    made.dtype = DTypeName(output.a_dtype);
    if (output.b_dtype != output.a_dtype) made.other_dtype = DTypeName(output.b_dtype);
    made.vacuous = output.vacuous;
    // Where nothing was left out, positions count beside those of iterations where some were.
    if (output.masked && !output.masked->mask.empty()) KeepMasked(*output.masked, made);
    for (const FunctionResult& result : output.functions) {
      made.functions.push_back(KeepFunction(result, averaged));
    }
    const auto record = std::ranges::find(folded.outputs, output.a_name, &OutputRecord::name);
    const bool worst = record != folded.outputs.end() && record->figures.iteration == index;
    if (worst) made.figures = record->figures;
  }
  return kept;
}

Result<IterationComparison> RestoreComparison(const ShardPair& kept) {
  IterationComparison comparison;
  comparison.pairing.left_only = kept.only_in_first;
  comparison.pairing.right_only = kept.only_in_second;
  comparison.without_verdict = kept.without_verdict;
  comparison.not_logits = kept.not_logits;
  // Whether there were any is what counts.
  comparison.a_outputs.resize(kept.empty ? 0 : 1);
  comparison.b_outputs.resize(kept.empty ? 0 : 1);
  for (const ShardOutput& output : kept.outputs) {
    if (RestoreOutput(output, comparison.outputs.emplace_back())) continue;
    return Malformed("output '" + output.row.output + "' has a function, verdict or pair unknown " +
                     "to this version");
  }
  return comparison;
}

}  // namespace vernier
