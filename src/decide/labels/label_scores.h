// How right a decision is, by the right answer for its sample.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/decision_plan.h"
#include "vernier/decision_record.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// The right answer for one sample.
struct Label {
  /// A class; or the classes of a set, in any order; or, where `is_row`, a value for each class
  /// (0: not in the set) or for each position of a map.
  std::vector<int64_t> values;
  bool is_row = false;
  bool is_truth = false;             ///< of booleans, which name no class of more than two
  std::vector<double> numbers = {};  ///< of regression, in the place of `values`
  Dims dims = {};                    ///< of the row, where it is part of an array
};

/// The name under which labels come with what is fed (`loader`, which is "label", or
/// `loader=NAME`); nullopt: they are elsewhere.
std::optional<std::string> FedLabelKey(const LabelsPlan& labels);

/// Whether a Label says what such a decision should be: topK, threshold, argmax, ctc, regression.
bool TakesLabels(DecisionKind kind);

/// The labels of a decision: the last that name its output, else the last without an output. Those
/// are of classes where any decision is about classes; else of texts or numbers, where all that
/// take labels are of that kind. Null: there are none.
const LabelsPlan* LabelsFor(const DecisionOptions& options, DecisionKind kind,
                            std::string_view output);

/// What a gate has for a decision: for "logits:top1", else for "logits" or "top1", of which the
/// smaller limit holds. Of one name that is given twice the last holds. nullopt: none of these.
std::optional<double> NarrowestLimit(const PerOutput<double>& limits, std::string_view output,
                                     std::string_view kind);

/// Whether a name of --max-drop means this decision: "top1", "logits" or "logits:top1".
bool NamesMetric(std::string_view name, std::string_view output, std::string_view kind);

/// The limit of --max-drop for a decision; nullopt: it has none.
std::optional<double> DropLimitFor(const DecisionOptions& options, std::string_view output,
                                   std::string_view kind);

/// The outputs of both sides that samples were decided from; a saved sample has none.
struct ScoredOutputs {
  const Tensor* first = nullptr;
  const Tensor* second = nullptr;
  std::optional<int64_t> classes = {};  ///< without outputs: CountClasses(), where it is known
};

/// How many classes such an output has, as labels and names of classes count them; nullopt: it is
/// not known, or such decisions are about no classes.
std::optional<int64_t> CountClasses(const DecisionPlan& decision, const Dims& dims);

/// kInvalidArgument where the label has axes, and not those of a sample: as many values in another
/// order would be scored in the wrong places. `what` names the sample. Axes of one entry do not
/// count.
Status CheckLabelShape(const Label& label, const Dims& sample, std::string_view what);

/// Whether samples of such an output are maps: decisions about many positions each.
bool IsMapOf(const DecisionPlan& decision, const Dims& dims);

/// Sets the label and the scores of the sample number `row` of its iteration, of a right or wrong
/// decision by the texts of both sides: NaN is wrong. Of a map the score is the mean IoU over the
/// classes that the label or the side has, positions labelled 255 left out unless there is such a
/// class. kInvalidArgument, as what is wrong with "the label": a class beyond the output, no class
/// where one is needed, another number of positions; and where the texts do not list everything and
/// there are no outputs: the sample then has a label without scores, and LabelFold no figure. Of
/// ctc and regression see label_errors.h.
Status ScoreSample(const DecisionPlan& decision, const Label& label, const ScoredOutputs& outputs,
                   int64_t row, DecisionSample& sample);

/// The sample is one without a label.
void RemoveLabel(DecisionSample& sample);

}  // namespace vernier
