#include "compare/functions/logits.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "compare/functions/measurement.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

constexpr int64_t kLastAxis = -1;

bool HoldsLogits(DType dtype) {
  return dtype == DType::kFloat16 || dtype == DType::kBFloat16 || dtype == DType::kFloat32 ||
         dtype == DType::kFloat64;
}

bool IsNamed(std::string_view name, const PerOutput<int64_t>& axes) {
  return std::ranges::any_of(axes.entries, [&](const auto& entry) { return entry.first == name; });
}

// What keeps a tensor from being logits along an axis; empty: nothing.
std::string WhyUnfit(const Tensor& tensor, int64_t axis) {
  if (!HoldsLogits(tensor.dtype())) return std::string(DTypeName(tensor.dtype()));
  const auto rank = static_cast<int64_t>(tensor.dims().size());
  if (rank == 0) return "a scalar";
  if (axis < -rank || axis >= rank) {
    return "shape " + FormatDims(tensor.dims()) + ", which has no axis " + std::to_string(axis);
  }
  const int64_t classes = tensor.dims()[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
  if (classes >= 2) return "";
  return std::string(classes == 1 ? "one class" : "no class") + " along axis " +
         std::to_string(axis);
}

FunctionResult NotVerifiedLogits(std::string why) {
  FunctionResult result;
  result.verdict = Verdict::kNotVerified;
  result.why = std::move(why);
  return result;
}

LogitRows RowsAlong(const Dims& dims, size_t axis) {
  LogitRows rows{1, dims[axis], 1};
  for (size_t i = 0; i < axis; ++i) rows.outer *= dims[i];
  for (size_t i = axis + 1; i < dims.size(); ++i) rows.inner *= dims[i];
  return rows;
}

std::string WhatSoftmaxGave(const LogitMeasures& measures) {
  if (measures.a_is_softmax && measures.b_is_softmax) return std::string(kProbabilities);
  return std::string(measures.a_is_softmax ? "the first" : "the second") +
         " side holds probabilities, not logits: every row sums to 1";
}

// Each gate that did not pass.
std::string WhyLogitsDiffer(const LogitsResult& logits) {
  const LogitMeasures& measures = logits.measures;
  std::string why;
  const auto add = [&why](const std::string& what) { why += (why.empty() ? "" : ", ") + what; };
  const auto add_rows = [&](int64_t count, const std::string& what) {
    if (count > 0) add(what + " at " + CountedOf(count, measures.positions, "position"));
  };
  add_rows(measures.nan, "NaN");
  add_rows(measures.infinite, "+inf");
  add_rows(measures.torn, "-inf on one side alone");
  if (!logits.kl_passed()) {
    add("mean KL divergence " + FormatG(measures.divergence_mean, 5) + " nats, the threshold is " +
        FormatG(logits.kl_threshold, 5));
  }
  if (!logits.top1_passed()) {
    add("share of equal top-1 " + FormatG(logits.judged_top1(), 5) + ", the threshold is " +
        FormatG(logits.top1_threshold, 5));
  }
  return why;
}

LogitsResult MeasureLogitsOf(const PairMeasurement& pair, int64_t axis) {
  const CompareOptions& options = pair.options();
  const Dims& dims = pair.whole_a().dims();
  LogitsResult logits;
  logits.axis = axis < 0 ? axis + static_cast<int64_t>(dims.size()) : axis;
  logits.classes = dims[static_cast<size_t>(logits.axis)];
  logits.position_dims = dims;
  logits.position_dims.erase(logits.position_dims.begin() + logits.axis);
  logits.kl_threshold = options.logits_kl_threshold.Lookup(pair.name(), kDefaultLogitsKl);
  logits.top1_threshold = options.logits_top1_threshold.Lookup(pair.name(), kDefaultLogitsTop1);
  LogitRows rows = RowsAlong(dims, static_cast<size_t>(logits.axis));
  if (const FedPositions* const positions = pair.detail().positions) {
    logits.tokens = MatchPositions(PositionsOf(*positions, std::string(pair.name())),
                                   logits.position_dims, logits.classes);
  }
  const std::vector<int64_t> next = std::exchange(logits.tokens.next, {});
  rows.next = next;
  logits.measures = MeasureLogits(Elements(pair.whole_a()), Elements(pair.whole_b()), rows,
                                  options.logits_top_k, pair.detail().pool);
  return logits;
}

// Of a mask that the user did not name, where it may be about other positions.
std::string HintOfMask(const PairMeasurement& pair, const LogitsResult& logits) {
  const FedPositions* const positions = pair.detail().positions;
  if (positions == nullptr || !positions->mask || !logits.tokens.mask.empty()) return "";
  const FedPositions mask{std::nullopt, positions->mask};
  const RowTokens rows = MatchPositions(mask, logits.position_dims, logits.classes);
  const auto excluded = std::ranges::count(rows.next, kExcludedRow);
  if (excluded == 0) return "";
  return "; '" + rows.mask + "' is 0 at " + Counted(excluded, "position") + " (--mask " +
         rows.mask + " leaves them out)";
}

}  // namespace

double LogitsResult::judged_top1() const {
  if (measures.compared == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(measures.equal_top1 + measures.close_flips) /
         static_cast<double>(measures.compared);
}

std::string WhyNotLogits(std::string_view name, const Tensor& a, const Tensor& b,
                         const CompareOptions& options) {
  const PerOutput<int64_t>& axes = options.logits_axis;
  if (IsNamed(name, axes)) return "";
  if (!axes.entries.empty() && !axes.fallback) return "not named";
  const int64_t axis = axes.Lookup(name, kLastAxis);
  return WhyUnfit(b, axis).empty() ? "" : WhyUnfit(a, axis);
}

FunctionResult JudgeLogits(PairMeasurement& pair) {
  if (!pair.status().ok()) return NotVerifiedLogits(pair.status().message());
  const int64_t axis = pair.options().logits_axis.Lookup(pair.name(), kLastAxis);
  for (const Tensor* side : {&pair.whole_a(), &pair.whole_b()}) {
    const std::string unfit = WhyUnfit(*side, axis);
    if (unfit.empty()) continue;
    return NotVerifiedLogits(
        "logits are float16, bfloat16, float32 or float64 with at least two classes, not " + unfit);
  }
  LogitsResult logits = MeasureLogitsOf(pair, axis);
  const LogitMeasures& measures = logits.measures;
  if (measures.a_is_softmax || measures.b_is_softmax) {
    return NotVerifiedLogits(WhatSoftmaxGave(measures));
  }
  if (measures.positions > 0 && measures.masked == measures.positions) {
    return NotVerifiedLogits("every class of every position is -inf on both sides");
  }
  if (measures.positions > 0 && measures.masked + measures.excluded == measures.positions) {
    FunctionResult none =
        NotVerifiedLogits("'" + logits.tokens.mask + "' excludes every position" +
                          (measures.masked > 0 ? " whose classes are not all -inf" : ""));
    none.data = std::move(logits);
    return none;
  }
  FunctionResult result;
  const bool valid = measures.nan + measures.infinite + measures.torn == 0;
  const bool passed = valid && logits.kl_passed() && logits.top1_passed();
  if (measures.positions > 0 && !passed) {
    result.verdict = Verdict::kMismatched;
    result.why = WhyLogitsDiffer(logits) + HintOfMask(pair, logits);
  }
  result.data = std::move(logits);
  return result;
}

}  // namespace vernier
