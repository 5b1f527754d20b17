// The words of --feed-back, --step-slice and --advance.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vernier/input_plan.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// `[RUNNER:]OUTPUT:INPUT`, either with one `*`, or `[RUNNER:]auto`.
struct FeedBackWord {
  std::string word;   ///< as it was given
  std::string label;  ///< of a runner; empty: of all
  std::string rest;   ///< behind the label

  bool automatic() const { return rest == "auto"; }
  /// OUTPUT and INPUT, for each colon that may be the one between them: names may have colons.
  std::vector<std::pair<std::string, std::string>> Splits() const;
};

/// `[RUNNER:]INPUT:axis=1,size=576,hop=512,pad=64`: step t takes `size` elements along the axis,
/// from t * hop - pad on; before the first there are zeros.
struct SliceWord {
  std::string word;
  std::string label;  ///< of a runner; empty: of all that have no slice of their own
  std::string input;
  size_t axis = 0;
  std::optional<int64_t> size;  ///< at least 1; not given: as the input is declared
  std::optional<int64_t> hop;   ///< at least 1; not given: size - pad
  int64_t pad = 0;              ///< at least 0, less than `size`
};

/// `NAME:+1` or `NAME:-0.02`; or `NAME:append 1`, which makes the last axis longer by one element
/// at each step, and `NAME:append 1*3` by three; or `NAME:set 1`, all elements from step 1 on.
struct AdvanceWord {
  std::string word;
  std::string input;
  bool appends = false;
  bool sets = false;
  int64_t amount = 0;                   ///< to add, or the value to append or to set
  int64_t each = 1;                     ///< elements that a step appends
  std::optional<double> fraction = {};  ///< to add or to set instead of `amount`

  bool stays() const { return !appends && !sets && amount == 0 && !fraction; }
};

/// `RUNNER:AXIS`: this runner takes all steps of a sequence in one inference, along this axis.
struct AxisWord {
  std::string word;
  std::string label;
  size_t axis = 0;
};

struct StepWords {
  std::vector<FeedBackWord> feed_back;
  std::vector<SliceWord> slices;
  std::vector<AdvanceWord> advances;
  std::vector<AxisWord> axes;
};

/// `runners` are the names that labels may be of (IsCalled). kInvalidArgument, naming flag and
/// word, for what is no such word, for an input that is sliced (for one runner) or advanced twice,
/// and for a runner that takes all steps at once where it is the first or has two words.
Result<StepWords> ParseStepWords(const StepPlan& plan, std::span<const std::string> runners);

/// "--feed-back WORD: WHY", and the same of other flags.
Status BadStepWord(std::string_view flag, std::string_view word, const std::string& why);

/// Why the size of a slice is not known, and what to do, of a runner that declares `inputs`.
std::string WhyNoSize(const SliceWord& slice, const std::vector<TensorInfo>& inputs);

inline constexpr std::string_view kFeedBackFlag = "--feed-back";
inline constexpr std::string_view kSliceFlag = "--step-slice";
inline constexpr std::string_view kAdvanceFlag = "--advance";
inline constexpr std::string_view kAxisFlag = "--steps-axis";

}  // namespace vernier
