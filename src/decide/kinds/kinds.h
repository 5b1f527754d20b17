// The decisions of each kind. Internal to decide; decision.h has the contract. All that is checked
// there holds: the kind fits both tensors, and their shapes are equal (boxes: but for their
// number).
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "decide/kinds/near_tie.h"
#include "vernier/decision_plan.h"
#include "vernier/decision_record.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

struct DecideInput {
  const DecisionPlan& plan;
  const Tensor& reference;
  const Tensor& candidate;
  NearTieRule near_tie;
};

std::vector<DecisionSample> DecideTop(const DecideInput& input);
std::vector<DecisionSample> DecideRank(const DecideInput& input);
std::vector<DecisionSample> DecideArgmax(const DecideInput& input);
/// kThreshold and kSign.
std::vector<DecisionSample> DecideBorder(const DecideInput& input);
/// How many labels the texts of kThreshold and kSign list, which are made for every sample.
inline constexpr size_t kMostListedSides = 16;
/// Holds every int64 and uint64, and every double.
using WideFloat = long double;
static_assert(std::numeric_limits<WideFloat>::digits >= 64);
/// Whether both sides are of an integer type that doubles do not hold: int64 or uint64.
bool HasWideIntegers(const DecideInput& input);
/// The same of these, exactly.
std::vector<DecisionSample> DecideIntegerBorder(const DecideInput& input);
std::vector<DecisionSample> DecideEmbedding(const DecideInput& input);
std::vector<DecisionSample> DecideRegression(const DecideInput& input);
/// kInvalidArgument for texts whose edit distance would take hours.
Result<std::vector<DecisionSample>> DecideCtc(const DecideInput& input);
/// kInvalidArgument for more boxes in a sample than can be matched in seconds.
Result<std::vector<DecisionSample>> DecideBoxes(const DecideInput& input);

/// How many numbers a decision's text lists.
inline constexpr size_t kMostListed = 64;

/// "3 17 4"; "none" of none; of many the first, and how many more there are. `total`: where
/// `numbers` has the first kMostListed alone, how many there are.
template <typename Numbers>
std::string NumbersText(const Numbers& numbers, size_t total) {
  if (numbers.empty()) return "none";
  std::string text;
  const size_t shown = std::min(numbers.size(), kMostListed);
  char digits[24];
  for (size_t i = 0; i < shown; ++i) {
    if (i > 0) text += ' ';
    const auto written = std::to_chars(std::begin(digits), std::end(digits), numbers[i]);
    text.append(digits, written.ptr);
  }
  if (total > shown) text += " +" + std::to_string(total - shown) + " more";
  return text;
}
template <typename Numbers>
std::string NumbersText(const Numbers& numbers) {
  return NumbersText(numbers, numbers.size());
}

/// "0:812 3:40": how many are of which class, class by class; of many classes the first ones.
class ClassCountsText {
 public:
  void Add(int64_t category, int64_t count) {
    constexpr size_t kMost = 32;
    if (++listed_ > kMost + 1) return;
    if (listed_ > 1) text_ += ' ';
    text_ += listed_ > kMost ? "and more" : std::to_string(category) + ":" + std::to_string(count);
  }
  std::string Take() && { return text_.empty() ? "none" : std::move(text_); }

 private:
  std::string text_;
  size_t listed_ = 0;
};

}  // namespace vernier
