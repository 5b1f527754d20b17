#include "decide/labels/label_errors.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decide/kinds/class_rows.h"
#include "decide/kinds/edit_distance.h"
#include "decide/kinds/kinds.h"
#include "decide/kinds/row_top.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

using Symbols = std::vector<int64_t>;

// What the text of a decision lists; nullopt where it does not list all.
std::optional<Symbols> ListedSymbols(std::string_view text) {
  Symbols symbols;
  if (text == "none") return symbols;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    int64_t number = 0;
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc()) return std::nullopt;
    symbols.push_back(number);
    at = stop == end ? end : stop + 1;
  }
  return symbols;
}

int64_t BlankOf(const DecisionPlan& decision, int64_t classes) {
  return decision.blank < 0 ? decision.blank + classes : decision.blank;
}

// As DecideCtc reads it.
Symbols SymbolsOf(const DecisionPlan& decision, const Tensor& output, int64_t sample) {
  const Dims& dims = output.dims();
  const ClassRows layout = RowsAlongAxis(dims, dims.size() - 1);
  const bool one = dims.size() == 2;
  const int64_t samples = one ? 1 : dims[decision.time_first ? 1 : 0];
  const int64_t steps = one || decision.time_first ? dims[0] : dims[1];
  const bool time_first = !one && decision.time_first;
  const auto blank = static_cast<size_t>(BlankOf(decision, layout.classes));
  Symbols symbols;
  WithArithmetic(output, output, [&](auto zero) {
    RowReader<decltype(zero)> rows(output, layout);
    size_t last = blank;
    for (int64_t step = 0; step < steps; ++step) {
      const int64_t row = time_first ? step * samples + sample : sample * steps + step;
      const size_t place = FindTopTwo(rows.Row(row)).place;
      if (place != last && place != blank) symbols.push_back(static_cast<int64_t>(place));
      last = place;
    }
  });
  return symbols;
}

/// One side of a labelled text.
struct ReadText {
  const std::string& text;
  const Tensor* output;  // null: of a saved sample
};

Result<double> EditsOf(const DecisionPlan& decision, const ReadText& side, const Symbols& label,
                       int64_t row) {
  if (side.text == "invalid") return static_cast<double>(label.size());
  std::optional<Symbols> symbols = ListedSymbols(side.text);
  if (!symbols && side.output == nullptr) {
    return InvalidArgument(
        "belongs to a text with more symbols than rows list, so it cannot be"
        " judged");
  }
  if (!symbols) symbols = SymbolsOf(decision, *side.output, row);
  constexpr size_t kMostPairs = 1000000000;
  if (!label.empty() && symbols->size() > kMostPairs / label.size()) {
    return InvalidArgument("has " + Counted(label.size(), "symbol") + " for a text of " +
                           std::to_string(symbols->size()) + ", too many to be matched");
  }
  return static_cast<double>(EditDistance<int64_t>(*symbols, label));
}

std::string ValuesText(std::span<const double> values) {
  constexpr size_t kFew = 8;
  if (values.size() > kFew) return Counted(values.size(), "value");
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : " ") + FormatG(value, 7);
  return text;
}

/// Means over the values of a sample.
struct ValueErrors {
  double absolute = 0;
  double squared = 0;
};

Result<ValueErrors> ErrorsOf(const Tensor& output, std::span<const double> label, int64_t row) {
  PartReader<double> parts(output, static_cast<int64_t>(label.size()));
  const double* values = parts.Part(row);
  ValueErrors errors;
  for (size_t i = 0; i < label.size(); ++i) {
    if (!std::isfinite(values[i])) {
      return InvalidArgument("cannot be compared with an output of " + FormatG(values[i], 3));
    }
    const double error = values[i] - label[i];
    errors.absolute += std::abs(error);
    errors.squared += error * error;
  }
  errors.absolute /= static_cast<double>(label.size());
  errors.squared /= static_cast<double>(label.size());
  return errors;
}

}  // namespace

Status ScoreText(const DecisionPlan& decision, const Label& label, const ScoredOutputs& outputs,
                 int64_t row, DecisionSample& sample) {
  const bool known = outputs.first != nullptr || outputs.classes.has_value();
  const int64_t classes =
      outputs.first != nullptr ? outputs.first->dims().back() : outputs.classes.value_or(0);
  const int64_t blank = known ? BlankOf(decision, classes) : decision.blank;
  Symbols symbols;
  for (const int64_t value : label.values) {
    if (value == blank) continue;
    if (value < 0) return InvalidArgument("has " + std::to_string(value) + ", and no symbol");
    if (known && value >= classes) {
      return InvalidArgument("has the symbol " + std::to_string(value) + ", beyond the " +
                             std::to_string(classes) + " classes of the output");
    }
    symbols.push_back(value);
  }
  sample.label = NumbersText(symbols);  // also of what cannot be judged: see LabelFold::Add
  VERNIER_ASSIGN_OR_RETURN(const double first,
                           EditsOf(decision, {sample.first, outputs.first}, symbols, row));
  VERNIER_ASSIGN_OR_RETURN(const double second,
                           EditsOf(decision, {sample.second, outputs.second}, symbols, row));
  sample.first_error = first;
  sample.second_error = second;
  sample.label_size = static_cast<int64_t>(symbols.size());
  sample.first_score = first == 0 && sample.first != "invalid" ? 1 : 0;
  sample.second_score = second == 0 && sample.second != "invalid" ? 1 : 0;
  return {};
}

Status ScoreValues(const DecisionPlan& decision, const Label& label, const ScoredOutputs& outputs,
                   int64_t row, DecisionSample& sample) {
  if (outputs.first == nullptr) {
    return InvalidArgument("of '" + decision.text +
                           "' cannot be judged without the outputs, which rows do not have");
  }
  const auto size = static_cast<size_t>(SamplesOf(outputs.first->dims()).size);
  if (label.numbers.size() != size) {
    return InvalidArgument("has " + Counted(label.numbers.size(), "value") + ", and '" +
                           decision.text + "' decides about " + std::to_string(size));
  }
  const Dims& dims = outputs.first->dims();
  VERNIER_TRY(CheckLabelShape(label, {dims.begin() + (dims.empty() ? 0 : 1), dims.end()},
                              "a sample of the output"));
  for (const double value : label.numbers) {
    if (!std::isfinite(value)) return InvalidArgument("has " + FormatG(value, 3));
  }
  VERNIER_ASSIGN_OR_RETURN(const ValueErrors first, ErrorsOf(*outputs.first, label.numbers, row));
  VERNIER_ASSIGN_OR_RETURN(const ValueErrors second, ErrorsOf(*outputs.second, label.numbers, row));
  sample.label = ValuesText(label.numbers);
  sample.first_score = first.absolute;
  sample.second_score = second.absolute;
  sample.first_error = first.squared;
  sample.second_error = second.squared;
  return {};
}

}  // namespace vernier
