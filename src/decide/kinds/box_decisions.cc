// boxes: detections of both sides after non-maximum suppression, matched one to one.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "decide/kinds/box_layout.h"
#include "decide/kinds/box_reader.h"
#include "decide/kinds/class_rows.h"
#include "decide/kinds/decision.h"
#include "decide/kinds/detect_boxes.h"
#include "decide/kinds/detections.h"
#include "decide/kinds/kinds.h"
#include "decide/kinds/suppression_borders.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// Steps of 1/255 may be rounded up.
constexpr double kMostProbability = 1.01;

// The boxes that are sure enough, in falling order of their scores; of equal ones the first.
template <typename T>
Detections SureBoxes(const BoxReader<T>& reader, const BoxLayout& layout, double least_score) {
  Detections found;
  std::vector<T> best;
  reader.BestScores(best);
  for (int64_t row = 0; row < layout.boxes; ++row) {
    const auto of_classes = static_cast<double>(best[static_cast<size_t>(row)]);
    const double score = layout.score < 0 ? of_classes : of_classes * reader.At(row, layout.score);
    if (score >= least_score) {
      Detection box{};
      box.row = row;
      reader.Classify(of_classes, least_score, box);
      reader.Corners(box);
      if (box.x2 < box.x1 || box.y2 < box.y1) ++found.negative;
      if (box.score > kMostProbability) ++found.above_one;
      const bool has_nan = reader.HasNan(box);
      if (!has_nan && found.why.empty()) found.why = reader.WhyNoBox(box);
      found.has_nan |= has_nan || !found.why.empty();
      found.boxes.push_back(box);
      continue;
    }
    found.has_nan |= std::isnan(score);
    found.below = std::max(found.below, score);
  }
  std::ranges::stable_sort(found.boxes, std::ranges::greater{}, &Detection::score);
  return found;
}

// Greedy, class by class: a box goes where a surer one of its class overlaps it by more than `iou`.
void Suppress(double iou, Detections& found) {
  std::vector<Detection>& boxes = found.boxes;
  std::vector<size_t> by_class(boxes.size());
  std::iota(by_class.begin(), by_class.end(), size_t{0});
  std::ranges::stable_sort(by_class, {}, [&](size_t i) { return boxes[i].label; });
  std::vector<bool> stays(boxes.size());
  std::vector<size_t> kept;  // of the present class
  int64_t label = 0;
  for (const size_t i : by_class) {
    if (boxes[i].label != label) kept.clear();
    label = boxes[i].label;
    stays[i] = std::ranges::none_of(
        kept, [&](size_t surer) { return Overlap(boxes[surer], boxes[i]) > iou; });
    if (stays[i]) kept.push_back(i);
  }
  size_t end = 0;
  for (size_t i = 0; i < boxes.size(); ++i) {
    if (stays[i]) {
      boxes[end++] = boxes[i];
    } else {
      found.suppressed.push_back(boxes[i]);
    }
  }
  boxes.erase(boxes.begin() + static_cast<std::ptrdiff_t>(end), boxes.end());
}

// Boxes are compared each with each.
constexpr size_t kMostSureBoxes = 20000;

template <typename T>
Result<Detections> Detect(const T* values, const BoxLayout& layout, const DecisionPlan& plan) {
  Detections found = SureBoxes(BoxReader<T>(values, layout), layout, plan.score);
  if (found.boxes.size() > kMostSureBoxes) {
    return InvalidArgument("'" + plan.text + "': " + std::to_string(found.boxes.size()) +
                           " boxes of a sample have a score >= " + FormatG(plan.score, 6) +
                           ", more than " + std::to_string(kMostSureBoxes) + ": raise 'score'");
  }
  if (!found.has_nan) Suppress(plan.iou, found);
  return found;
}

// "0:3 2:1": how many boxes are of which class.
std::string LabelsText(const Detections& found) {
  std::map<int64_t, int64_t> counts;
  for (const Detection& box : found.boxes) ++counts[box.label];
  ClassCountsText text;
  for (const auto& [label, count] : counts) text.Add(label, count);
  return std::move(text).Take();
}

// Of a side whose boxes all stay as they are.
double LeastBoxMargin(const Detections& found, double least_score) {
  double least = least_score - found.below;
  for (const Detection& box : found.boxes) least = std::min(least, box.margin);
  return least;
}

bool HasNoEqual(const Detection& box, int64_t match, const Detections& other) {
  return match < 0 || other.boxes[static_cast<size_t>(match)].label != box.label;
}

/// The borders of the boxes that one side alone has, or has with another class.
class ChangedBoxes {
 public:
  ChangedBoxes(const Detections& a, const Detections& b, const BoxMatch& match,
               const std::array<BoxRows, 2>& rows, const DecideInput& input)
      : a_(a),
        b_(b),
        match_(match),
        suppression_(a, b, match, input.plan, rows, input.near_tie),
        least_score_(input.plan.score) {}

  /// The one that is furthest from a near tie.
  BoxBorder Worst() {
    BoxBorder worst;
    for (const bool first : {true, false}) {
      const Detections &own = first ? a_ : b_, &other = first ? b_ : a_;
      const std::vector<int64_t>& matches = first ? match_.of_first : match_.of_second;
      for (size_t i = 0; i < own.boxes.size(); ++i) {
        if (!HasNoEqual(own.boxes[i], matches[i], other)) continue;
        const BoxBorder border = Of(first, i);
        if (border.IsWorseThan(worst)) worst = border;
      }
    }
    return worst;
  }

 private:
  BoxBorder Of(bool first, size_t box) {
    const BoxCounts& counts = match_.counts;
    const int64_t changed = counts.class_changed + counts.lost + counts.invented;
    if (const auto border = suppression_.Of(first, box, changed)) return *border;
    // Where a class changes, a score overtakes another one.
    const auto kind = counts.class_changed > 0 ? NoisyValues::kTwo : NoisyValues::kOne;
    const double margin = (first ? a_ : b_).boxes[box].margin;
    return {margin, first ? kNoMargin : margin, suppression_.ScoreLimit(kind, least_score_)};
  }

  const Detections& a_;
  const Detections& b_;
  const BoxMatch& match_;
  SuppressionBorders suppression_;
  double least_score_;
};

std::string MatchText(const BoxCounts& of) {
  std::string text = std::to_string(of.matched) + " matched";
  if (of.lost > 0) text += ", " + std::to_string(of.lost) + " lost";
  if (of.invented > 0) text += ", " + std::to_string(of.invented) + " invented";
  if (of.class_changed > 0) text += ", class changed of " + std::to_string(of.class_changed);
  if (of.matched == 0) return text;
  return text + ", mean IoU " + FormatG(of.overlap / static_cast<double>(of.matched), 4);
}

void CompareDetections(const Detections& a, const Detections& b, const std::array<BoxRows, 2>& rows,
                       const DecideInput& input, DecisionSample& sample) {
  sample.near_tie = input.near_tie.known();
  sample.first = LabelsText(a);
  sample.second = LabelsText(b);
  sample.first_margin = LeastBoxMargin(a, input.plan.score);
  sample.second_margin = LeastBoxMargin(b, input.plan.score);
  sample.negative_boxes = a.negative + b.negative;
  sample.scores_above_one = a.above_one + b.above_one;
  sample.detail = a.why.empty() ? b.why : a.why;
  if (a.has_nan || b.has_nan) return MakeInvalid(sample, a.has_nan, b.has_nan);
  const BoxMatch match = MatchBoxes(a, b, input.plan.iou);
  if (match.has_nan) return MakeInvalid(sample, true, true);
  const BoxCounts& counts = sample.boxes.emplace(match.counts);
  const int64_t others = counts.class_changed + counts.lost + counts.invented,
                all = counts.matched + others;
  if (all > 0) sample.similarity = counts.overlap / static_cast<double>(all);
  if (others == 0) return;
  sample.detail = MatchText(counts);
  const BoxBorder worst = ChangedBoxes(a, b, match, rows, input).Worst();
  sample.first_margin = worst.first_margin;
  // What the candidate does not have may have been as near as the reference's.
  sample.second_margin = std::isnan(worst.second_margin)
                             ? std::min(sample.second_margin, worst.first_margin)
                             : worst.second_margin;
  input.near_tie.Judge(sample, 0, [&] { return worst.limit; });
}

template <typename T>
BoxRows RowsOf(const T* values, const BoxLayout& layout, double least_score) {
  const BoxReader<T> reader(values, layout);
  return {
      layout.boxes, [=](int64_t row) { return reader.Row(row, least_score); },
      [=](int64_t row, int64_t label, int64_t other) { return reader.Apart(row, label, other); }};
}

// Empty outputs may claim any number of samples.
Status CheckSamples(const DecisionPlan& plan, int64_t samples, int64_t elements) {
  constexpr int64_t kMostWithoutBoxes = int64_t{1} << 24;
  if (elements > 0 || samples <= kMostWithoutBoxes) return {};
  return InvalidArgument("'" + plan.text + "': " + std::to_string(samples) +
                         " samples without a box are too many");
}

SampleDetections OfSample(const Detections& found) {
  SampleDetections sample;
  sample.has_nan = found.has_nan;
  if (found.has_nan) return sample;
  sample.boxes.reserve(found.boxes.size());
  for (const Detection& box : found.boxes) {
    sample.boxes.push_back(
        {box.x1, box.y1, box.x2 - box.x1, box.y2 - box.y1, box.score, box.label});
  }
  return sample;
}

}  // namespace

Result<std::vector<SampleDetections>> DetectBoxes(const DecisionPlan& decision,
                                                  const Tensor& output) {
  if (const std::string why = WhyNotDecision(decision, output); !why.empty()) {
    return InvalidArgument("'" + decision.text + "' cannot be decided: the output is " + why);
  }
  const BoxLayout layout = LayoutOfBoxes(decision, output.dims());
  VERNIER_TRY(CheckSamples(decision, layout.samples, output.element_count()));
  std::vector<SampleDetections> samples(static_cast<size_t>(layout.samples));
  const Status done = WithFloats(output, output, [&](auto zero) -> Status {
    PartReader<decltype(zero)> parts(output, layout.boxes * layout.columns);
    for (size_t i = 0; i < samples.size(); ++i) {
      VERNIER_ASSIGN_OR_RETURN(const Detections found,
                               Detect(parts.Part(static_cast<int64_t>(i)), layout, decision));
      samples[i] = OfSample(found);
    }
    return {};
  });
  if (!done.ok()) return done;
  return samples;
}

Result<std::vector<DecisionSample>> DecideBoxes(const DecideInput& input) {
  const BoxLayout first = LayoutOfBoxes(input.plan, input.reference.dims());
  const BoxLayout second = LayoutOfBoxes(input.plan, input.candidate.dims());
  const int64_t elements = input.reference.element_count() + input.candidate.element_count();
  VERNIER_TRY(CheckSamples(input.plan, first.samples, elements));
  std::vector<DecisionSample> samples(static_cast<size_t>(first.samples));
  const Status done = WithFloats(input.reference, input.candidate, [&](auto zero) -> Status {
    using T = decltype(zero);
    PartReader<T> a(input.reference, first.boxes * first.columns);
    PartReader<T> b(input.candidate, second.boxes * second.columns);
    for (int64_t i = 0; i < first.samples; ++i) {
      const T *from_a = a.Part(i), *from_b = b.Part(i);
      VERNIER_ASSIGN_OR_RETURN(const Detections of_first, Detect(from_a, first, input.plan));
      VERNIER_ASSIGN_OR_RETURN(const Detections of_second, Detect(from_b, second, input.plan));
      const std::array<BoxRows, 2> rows = {RowsOf(from_a, first, input.plan.score),
                                           RowsOf(from_b, second, input.plan.score)};
      CompareDetections(of_first, of_second, rows, input, samples[static_cast<size_t>(i)]);
    }
    return {};
  });
  if (!done.ok()) return done;
  return samples;
}

}  // namespace vernier
