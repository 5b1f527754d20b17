#include "decide/labels/label_scores.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "decide/figures/sample_totals.h"
#include "decide/kinds/box_layout.h"
#include "decide/kinds/class_rows.h"
#include "decide/kinds/decided_classes.h"
#include "decide/kinds/kinds.h"
#include "decide/labels/label_errors.h"
#include "decide/labels/label_maps.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

constexpr double kNoScore = std::numeric_limits<double>::quiet_NaN();

// The classes that a decision's text lists.
struct ListedClasses {
  std::vector<int64_t> classes;
  int64_t total = 0;
  bool is_list = true;     // false: "invalid", which nothing is
  bool is_answer = false;  // "yes" or "no", of a single value

  bool complete() const { return static_cast<size_t>(total) == classes.size(); }
};

ListedClasses ReadListed(std::string_view text) {
  ListedClasses listed;
  if (text == "yes" || text == "no") {
    return {{text == "yes" ? 1 : 0}, 1, true, true};
  }
  if (text == "none") return listed;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    const bool more = *at == '+';
    int64_t number = 0;
    const auto [stop, error] = std::from_chars(more ? at + 1 : at, end, number);
    if (error != std::errc()) {
      listed.is_list = false;
      return listed;
    }
    listed.total += more ? number : 1;
    if (more) return listed;
    listed.classes.push_back(number);
    at = stop == end ? end : stop + 1;
  }
  return listed;
}

/// What both sides of a sample decided.
struct ListedSides {
  ListedClasses first, second;

  bool complete() const { return first.complete() && second.complete(); }
};

// Long lists are cut off in texts: the output has the rest.
ListedClasses ReadSide(const DecisionPlan& decision, std::string_view text, const Tensor* output,
                       int64_t row) {
  ListedClasses listed = ReadListed(text);
  if (!listed.complete() && output != nullptr) {
    listed.classes = ClassesDecided(decision, *output, row);
  }
  return listed;
}

double HasClass(const ListedClasses& listed, int64_t label) {
  if (!listed.is_list) return 0;
  return std::ranges::find(listed.classes, label) != listed.classes.end() ? 1 : 0;
}

// Whether these are the classes, which are sorted.
double IsSet(const ListedClasses& listed, const std::vector<int64_t>& labels) {
  return listed.is_list && listed.classes == labels ? 1 : 0;
}

std::vector<int64_t> ClassesOf(const Label& label) {
  std::vector<int64_t> classes;
  if (label.is_row) {
    for (size_t i = 0; i < label.values.size(); ++i) {
      if (label.values[i] != 0) classes.push_back(static_cast<int64_t>(i));
    }
    return classes;
  }
  classes = label.values;
  std::ranges::sort(classes);
  const auto repeated = std::ranges::unique(classes);
  classes.erase(repeated.begin(), repeated.end());
  return classes;
}

Status CheckClasses(const std::vector<int64_t>& classes, std::optional<int64_t> count) {
  for (const int64_t label : classes) {
    if (label < 0) return InvalidArgument("is " + std::to_string(label) + ", and no class");
    if (!count || label < *count) continue;
    return InvalidArgument(
        "is " + std::to_string(label) + ", beyond the " +
        (*count == 1 ? std::string("one class") : std::to_string(*count) + " classes") +
        " of the output");
  }
  return {};
}

// Masks that were meant to be classes, as `labels > 0`: a row of truths is one for `threshold`.
Status CheckNoTruths(const DecisionPlan& decision, const Label& label,
                     std::optional<int64_t> classes) {
  constexpr int64_t kTwoClasses = 2;
  const bool is_set = decision.kind == DecisionKind::kThreshold && label.is_row;
  if (!label.is_truth || is_set || !classes || *classes <= kTwoClasses) return {};
  return InvalidArgument("is true or false, which names none of the " + std::to_string(*classes) +
                         " classes of the output: give their numbers");
}

// What has one entry makes no other array.
Dims LongAxes(Dims dims) {
  std::erase(dims, 1);
  return dims;
}

Status ScoreSet(const DecisionPlan& decision, const Label& label, std::optional<int64_t> count,
                const ListedSides& sides, DecisionSample& sample) {
  if (label.is_row && count && label.values.size() != static_cast<size_t>(*count)) {
    return InvalidArgument("has " + Counted(label.values.size(), "value") + ", and '" +
                           decision.text + "' decides about " + std::to_string(*count));
  }
  const auto other = std::ranges::find_if(
      label.values, [&](int64_t value) { return label.is_row && value != 0 && value != 1; });
  if (other != label.values.end()) {
    return InvalidArgument("has " + std::to_string(*other) + " for class " +
                           std::to_string(other - label.values.begin()) +
                           ": a row of labels has 1 for a class that is there, and else 0");
  }
  const std::vector<int64_t> classes = ClassesOf(label);
  if (!label.is_row && classes.size() != label.values.size()) {
    return InvalidArgument(
        "names a class twice: list each class once; rows of zeros and ones are for arrays");
  }
  VERNIER_TRY(CheckClasses(classes, count));
  const bool single = sides.first.is_answer || sides.second.is_answer;
  if (single && (classes.size() != 1 || classes[0] > 1)) {
    return InvalidArgument("of an output with a single value has to be 0 or 1");
  }
  sample.label = single ? (classes[0] == 1 ? "yes" : "no") : NumbersText(classes);
  sample.first_score = IsSet(sides.first, classes);
  sample.second_score = IsSet(sides.second, classes);
  return {};
}

Status ScoreClass(const DecisionPlan& decision, const Label& label, std::optional<int64_t> count,
                  const ListedSides& sides, DecisionSample& sample) {
  if (label.is_row || label.values.size() != 1) {
    return InvalidArgument("has " + Counted(label.values.size(), "value") + ", and '" +
                           decision.text + "' needs one class");
  }
  VERNIER_TRY(CheckClasses(label.values, count));
  sample.label = std::to_string(label.values[0]);
  sample.first_score = HasClass(sides.first, label.values[0]);
  sample.second_score = HasClass(sides.second, label.values[0]);
  return {};
}

// What labels without an output are about.
bool TakesUnnamed(const DecisionOptions& options, DecisionKind kind) {
  if (kind != DecisionKind::kCtc && kind != DecisionKind::kRegression) return true;
  const auto is_other = [kind](const DecisionPlan& one) {
    return TakesLabels(one.kind) && one.kind != kind;
  };
  return !options.decisions.empty() && std::ranges::none_of(options.decisions, is_other);
}

}  // namespace

std::optional<int64_t> CountClasses(const DecisionPlan& decision, const Dims& dims) {
  if (decision.kind == DecisionKind::kThreshold) {
    // Of a single value the label is 0 or 1.
    return std::max<int64_t>(SamplesOf(dims).size, 2);
  }
  if (decision.kind == DecisionKind::kCtc) return dims.back();
  if (decision.kind == DecisionKind::kBoxes) {
    const BoxLayout layout = LayoutOfBoxes(decision, dims);
    return layout.scores < 0 ? std::nullopt : std::optional(layout.columns - layout.scores);
  }
  const bool has_axis = decision.kind == DecisionKind::kTop ||
                        decision.kind == DecisionKind::kRank ||
                        decision.kind == DecisionKind::kArgmax;
  if (!has_axis) return std::nullopt;
  const std::optional<size_t> axis = ClassAxis(decision, dims);
  return axis ? std::optional(dims[*axis]) : std::nullopt;
}

std::optional<std::string> FedLabelKey(const LabelsPlan& labels) {
  constexpr std::string_view kLoader = "loader";
  const std::string_view path = labels.path;
  if (path == kLoader) return "label";
  const bool named = path.starts_with(kLoader) && path.substr(kLoader.size()).starts_with('=');
  return named ? std::optional(labels.path.substr(kLoader.size() + 1)) : std::nullopt;
}

bool TakesLabels(DecisionKind kind) {
  return kind == DecisionKind::kTop || kind == DecisionKind::kThreshold ||
         kind == DecisionKind::kArgmax || kind == DecisionKind::kCtc ||
         kind == DecisionKind::kRegression;
}

const LabelsPlan* LabelsFor(const DecisionOptions& options, DecisionKind kind,
                            std::string_view output) {
  const LabelsPlan* found = nullptr;
  const bool boxes = kind == DecisionKind::kBoxes;
  if (!TakesLabels(kind) && !boxes) return found;
  const bool others = boxes || TakesUnnamed(options, kind);
  for (const LabelsPlan& labels : options.labels) {
    if (labels.of_boxes() != boxes) continue;
    const bool named = labels.output == output;
    const bool better = named || found == nullptr || found->output.empty();
    if ((named || (others && labels.output.empty())) && better) found = &labels;
  }
  return found;
}

bool NamesMetric(std::string_view name, std::string_view output, std::string_view kind) {
  if (name == kind || name == output) return true;
  return name.size() == output.size() + 1 + kind.size() && name.starts_with(output) &&
         name.ends_with(kind) && name[output.size()] == ':';
}

Status CheckLabelShape(const Label& label, const Dims& sample, std::string_view what) {
  const Dims given = LongAxes(label.dims);
  if (given.size() < 2 || given == LongAxes(sample)) return {};
  return InvalidArgument("has the shape " + FormatDims(label.dims) + ", and " + std::string(what) +
                         " " + FormatDims(sample) + ": give it in that shape, or flat");
}

std::optional<double> NarrowestLimit(const PerOutput<double>& limits, std::string_view output,
                                     std::string_view kind) {
  std::optional<double> of_output, of_kind, of_both;
  for (const auto& [name, limit] : limits.entries) {
    if (!NamesMetric(name, output, kind)) continue;
    (name == kind ? of_kind : name == output ? of_output : of_both) = limit;
  }
  if (of_both) return of_both;
  if (of_output && of_kind) return std::min(*of_output, *of_kind);
  return of_output ? of_output : of_kind;
}

std::optional<double> DropLimitFor(const DecisionOptions& options, std::string_view output,
                                   std::string_view kind) {
  const std::optional<double> limit = NarrowestLimit(options.max_drop, output, kind);
  return limit ? limit : options.max_drop.fallback;
}

bool IsMapOf(const DecisionPlan& decision, const Dims& dims) {
  if (decision.kind != DecisionKind::kArgmax || dims.empty()) return false;
  const std::optional<size_t> axis = ClassAxis(decision, dims);
  if (!axis) return false;
  const ClassRows rows = RowsAlongAxis(dims, *axis);
  return rows.count() > (*axis == 0 ? 1 : dims[0]);
}

Status ScoreSample(const DecisionPlan& decision, const Label& label, const ScoredOutputs& outputs,
                   int64_t row, DecisionSample& sample) {
  const std::optional<int64_t> count =
      outputs.first == nullptr ? outputs.classes : CountClasses(decision, outputs.first->dims());
  VERNIER_TRY(CheckNoTruths(decision, label, count));
  if (decision.kind == DecisionKind::kCtc) return ScoreText(decision, label, outputs, row, sample);
  if (decision.kind == DecisionKind::kRegression) {
    return ScoreValues(decision, label, outputs, row, sample);
  }
  if (outputs.first != nullptr && IsMapOf(decision, outputs.first->dims())) {
    return ScoreMap(decision, label, outputs, row, sample);
  }
  if (outputs.first == nullptr && decision.kind == DecisionKind::kArgmax &&
      (IsMapText(sample.first) || IsMapText(sample.second))) {
    return InvalidArgument("of a map cannot be judged without the outputs, which rows do not have");
  }
  const ListedSides sides{ReadSide(decision, sample.first, outputs.first, row),
                          ReadSide(decision, sample.second, outputs.second, row)};
  VERNIER_TRY(decision.kind == DecisionKind::kThreshold
                  ? ScoreSet(decision, label, count, sides, sample)
                  : ScoreClass(decision, label, count, sides, sample));
  if (sides.complete() || outputs.first != nullptr) return {};
  sample.first_score = sample.second_score = kNoScore;
  return InvalidArgument(
      "belongs to a decision for more classes than a row lists, so it cannot be judged and the"
      " accuracy is unknown: give --labels to the run that saves the rows");
}

void RemoveLabel(DecisionSample& sample) {
  sample.label.clear();
  sample.first_score = sample.second_score = kNoScore;
}

}  // namespace vernier
