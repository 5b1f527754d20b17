// ctc: the text of the greedy best path: the best class of each step, repetitions once, without
// blanks.
#include <algorithm>
#include <limits>
#include <optional>
#include <type_traits>

#include "decide/kinds/class_rows.h"
#include "decide/kinds/edit_distance.h"
#include "decide/kinds/kinds.h"
#include "decide/kinds/logit_noise.h"
#include "decide/kinds/row_top.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

/// [samples, steps, classes], or [steps, samples, classes] with time_first.
struct TextLayout {
  int64_t samples = 1;
  int64_t steps = 0;
  bool time_first = false;

  // Of the rows of classes.
  int64_t Row(int64_t sample, int64_t step) const {
    return time_first ? step * samples + sample : sample * steps + step;
  }
};

TextLayout TextLayoutOf(const DecisionPlan& decision, const Dims& dims) {
  if (dims.size() == 2) return {1, dims[0], false};
  if (decision.time_first) return {dims[1], dims[0], true};
  return {dims[0], dims[1], false};
}

/// The best path of one side.
struct Path {
  std::vector<size_t> classes;  // of each step
  std::vector<size_t> text;
  double margin = std::numeric_limits<double>::infinity();  // the least of a step
  bool has_nan = false;
  bool all_tied = true;  // at every step
};

template <typename T>
void FollowPath(RowReader<T>& rows, const TextLayout& layout, int64_t sample, size_t blank,
                Path& path) {
  path.classes.clear();
  path.text.clear();
  path.margin = std::numeric_limits<double>::infinity();
  path.has_nan = false;
  path.all_tied = true;
  size_t last = blank;
  for (int64_t step = 0; step < layout.steps; ++step) {
    const TopTwo<T> top = FindTopTwo(rows.Row(layout.Row(sample, step)));
    path.has_nan |= top.has_nan;
    const double margin = Gap(top.best, top.second);
    path.margin = std::min(path.margin, margin);
    path.all_tied &= margin == 0;
    path.classes.push_back(top.place);
    if (top.place != last && top.place != blank) path.text.push_back(top.place);
    last = top.place;
  }
}

/// Of the steps at which two paths differ: the largest margins.
struct PathFlips {
  double first_most = 0;
  double second_most = 0;
  double largest = 0;  // magnitude of a value that decided
  int64_t steps = 0;   // that differ
};

template <typename T>
class Texts {
 public:
  Texts(const DecideInput& input, const TextLayout& layout, const ClassRows& rows)
      : input_(input),
        layout_(layout),
        a_(input.reference, rows),
        b_(input.candidate, rows),
        others_(input.reference, input.candidate, SizeOfOthers(layout, rows)) {
    const int64_t blank = input.plan.blank;
    blank_ = static_cast<size_t>(blank < 0 ? blank + rows.classes : blank);
  }

  Status Decide(int64_t index, DecisionSample& sample) {
    FollowPath(a_, layout_, index, blank_, first_);
    FollowPath(b_, layout_, index, blank_, second_);
    sample.near_tie = input_.near_tie.known();
    sample.first = NumbersText(first_.text);
    sample.second = NumbersText(second_.text);
    sample.first_margin = first_.margin;
    sample.second_margin = second_.margin;
    if (first_.has_nan || second_.has_nan) {
      MakeInvalid(sample, first_.has_nan, second_.has_nan);
      return {};
    }
    sample.all_above = first_.all_tied;
    if (first_.text == second_.text) return {};
    VERNIER_TRY(CheckLengths());
    const size_t distance = EditDistance<size_t>(first_.text, second_.text);
    const size_t longer = std::max(first_.text.size(), second_.text.size());
    sample.similarity = 1 - static_cast<double>(distance) / static_cast<double>(longer);
    sample.detail = Counted(distance, "edit") + " in " + Counted(longer, "symbol");
    const PathFlips flips = Measure(index);
    sample.first_margin = flips.first_most;
    sample.second_margin = flips.second_most;
    input_.near_tie.Judge(sample, flips.largest, [&] { return LimitByOthers(index, flips); });
    return {};
  }

 private:
  // The time of an edit distance rises with the product of both lengths.
  Status CheckLengths() const {
    constexpr size_t kMostPairs = 1000000000;
    const size_t a = first_.text.size();
    const size_t b = second_.text.size();
    if (a == 0 || b <= kMostPairs / a) return {};
    return InvalidArgument("'" + input_.plan.text + "': texts of " + Counted(a, "symbol") +
                           " and " + Counted(b, "symbol") + " are too long to be matched");
  }

  // With the time first, a sample is not one part of the tensor; all steps but one then stand for
  // the other samples.
  static int64_t SizeOfOthers(const TextLayout& layout, const ClassRows& rows) {
    return rows.classes * (layout.time_first ? 1 : layout.steps);
  }

  PathFlips Measure(int64_t index) {
    PathFlips flips;
    for (int64_t step = 0; step < layout_.steps; ++step) {
      const auto at = static_cast<size_t>(step);
      const size_t x = first_.classes[at];
      const size_t y = second_.classes[at];
      if (x == y) continue;
      ++flips.steps;
      const int64_t row = layout_.Row(index, step);
      const std::span<const T> a = a_.Row(row);
      const std::span<const T> b = b_.Row(row);
      flips.first_most = std::max(flips.first_most, Gap(a[x], a[y]));
      flips.second_most = std::max(flips.second_most, Gap(b[y], b[x]));
      for (const T value : {a[x], a[y], b[x], b[y]}) Raise(flips.largest, value);
    }
    return flips;
  }

  // By the noise of the steps at which the paths do not differ.
  double LimitByOthers(int64_t index, const PathFlips& flips) {
    DifferenceNoise noise;
    LogitsOfRows logits;
    for (int64_t step = 0; step < layout_.steps; ++step) {
      const auto at = static_cast<size_t>(step);
      if (first_.classes[at] != second_.classes[at]) continue;
      const int64_t row = layout_.Row(index, step);
      const std::span<const T> a = a_.Row(row);
      const std::span<const T> b = b_.Row(row);
      for (size_t c = 0; c < a.size(); ++c) noise.Add(a[c], b[c]);
      if constexpr (std::is_floating_point_v<T>) {
        if (logits.probabilities()) logits.Add(a.data(), b.data(), a.size(), 1, first_.classes[at]);
      }
    }
    if (const std::optional<double> scale = logits.scale()) {
      return LimitOfProbability(flips.largest, NoiseLimit(*scale, NoisyValues::kTwo, flips.steps));
    }
    const double scale = noise.empty() ? others_.Without(index) : noise.scale();
    return NoiseLimit(scale, NoisyValues::kTwo, flips.steps);
  }

  const DecideInput& input_;
  TextLayout layout_;
  RowReader<T> a_;
  RowReader<T> b_;
  OtherSamples others_;
  size_t blank_ = 0;
  Path first_;
  Path second_;
};

}  // namespace

Result<std::vector<DecisionSample>> DecideCtc(const DecideInput& input) {
  const Dims& dims = input.reference.dims();
  const TextLayout layout = TextLayoutOf(input.plan, dims);
  const ClassRows rows = RowsAlongAxis(dims, dims.size() - 1);
  std::vector<DecisionSample> samples(static_cast<size_t>(layout.steps > 0 ? layout.samples : 0));
  const Status done = WithArithmetic(input.reference, input.candidate, [&](auto zero) -> Status {
    Texts<decltype(zero)> texts(input, layout, rows);
    for (size_t i = 0; i < samples.size(); ++i) {
      VERNIER_TRY(texts.Decide(static_cast<int64_t>(i), samples[i]));
    }
    return {};
  });
  if (!done.ok()) return done;
  return samples;
}

}  // namespace vernier
