#include "report/text/findings_text.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "compare/functions/metric_table.h"
#include "record/schema/coverage.h"
#include "report/text/run_summary.h"
#include "report/text/verdict_text.h"
#include "util/text/number_text.h"
#include "util/text/visible_text.h"
#include "util/values/plural_text.h"
#include "vernier/dtype.h"
#include "vernier/tensor.h"

namespace vernier {
namespace {

constexpr size_t kShownOutputs = 5;

bool Passed(const OutputRecord& output) { return output.compared == 0 || output.agrees(); }

// As many digits as distinguish two neighbouring values of the type.
int DigitsOf(const std::optional<SideRecord>& side) {
  const DType dtype =
      side ? DTypeFromName(side->dtype).value_or(DType::kUndefined) : DType::kUndefined;
  if (Kind(dtype) != DTypeKind::kFloat) return 17;
  const int bits = BitsOf(dtype);
  return bits <= 8 ? 4 : bits == 16 ? 5 : bits == 32 ? 9 : 17;
}

std::string Percent(double share) { return FormatG(share * 100, 3) + " %"; }

std::string ToleranceLine(const OutputRecord& output) {
  if (!output.tolerances_checked || output.mismatches == 0) return "";
  const double share =
      static_cast<double>(output.mismatches) / static_cast<double>(output.elements);
  std::string line = CountedOf(output.mismatches, output.elements, "element") + " (" +
                     Percent(share) + ") out of tolerance" + DescribeWorstElement(output);
  if (output.allowed_share > 0) {
    line += "; allowed: " + Percent(output.allowed_share) + ", " +
            FormatG(output.allowed_excess, 3) + " times over";
  }
  return line;
}

// A string may be a page long; its beginning shows which it is.
std::string QuotedStart(const std::string& text) {
  constexpr size_t kShown = 40;
  return "'" + text.substr(0, kShown) + (text.size() > kShown ? "..." : "") + "'";
}

std::string ValueText(double value, const std::string& digits, int precision) {
  return digits.empty() ? FormatG(value, precision) : digits;
}

std::string AbsoluteText(const ElementRecord& element) {
  const std::string text = ValueText(element.absolute_error, element.absolute_digits, 5);
  const bool overflows = std::isinf(element.absolute_error) && std::isfinite(element.first) &&
                         std::isfinite(element.second);
  return overflows ? "too large for its type" : text;
}

bool IsComplex(const std::string& dtype) {
  return Kind(DTypeFromName(dtype).value_or(DType::kUndefined)) == DTypeKind::kComplex;
}

std::string ErrorsText(const ElementRecord& element) {
  return ", absolute error " + AbsoluteText(element) + ", relative error " +
         FormatG(element.relative_error, 5);
}

std::vector<std::string> WorstLines(const OutputRecord& output) {
  const OutputFigures& figures = output.figures;
  const bool complex = IsComplex(output.dtype) || IsComplex(output.other_dtype);
  std::vector<std::string> lines;
  for (const ElementRecord& element : figures.worst) {
    std::string line =
        (lines.empty() ? "worst at " : "then at ") + FormatDims(element.index) + ": ";
    if (complex && element.first_text && element.second_text) {
      line += *element.first_text + " against " + *element.second_text + ErrorsText(element);
    } else if (element.first_text && element.second_text) {
      line += QuotedStart(*element.first_text) + " against " + QuotedStart(*element.second_text);
    } else {
      line += ValueText(element.first, element.first_digits, DigitsOf(figures.first)) +
              " against " +
              ValueText(element.second, element.second_digits, DigitsOf(figures.second)) +
              ErrorsText(element);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string DistanceLine(const DistanceRecord& distances) {
  std::string line;
  std::vector<std::string> names;
  for (const MetricRow& metric : MetricTable()) {
    const std::optional<double>& value = distances.values[metric.function];
    if (metric.brief.empty() || !value) continue;
    names.emplace_back(metric.brief);
    line += (line.empty() ? "" : ", ") + names.back() + " " +
            FormatG(*value, metric.digits > 0 ? metric.digits : 5) + std::string(metric.unit);
  }
  // One NaN makes all sums NaN.
  if (std::isnan(distances.values[CompareFunction::kL2].value_or(0))) {
    return JoinWords(names, " and ") + " are NaN";
  }
  if (distances.max_ulp) {
    line +=
        (line.empty() ? "at most " : ", at most ") + std::to_string(*distances.max_ulp) + " ULP";
    if (*distances.max_ulp > 0) line += " (at " + FormatDims(distances.max_ulp_index) + ")";
  }
  return line;
}

// "3 NaN (the first at (0, 1))"; empty when there are none.
std::string Count(int64_t count, const std::string& what,
                  const std::optional<std::vector<int64_t>>& first) {
  if (count == 0) return "";
  return std::to_string(count) + " " + what +
         (first ? " (the first at " + FormatDims(*first) + ")" : "");
}

std::string NotFiniteLine(const std::string& runner, const std::optional<SideRecord>& side) {
  if (!side) return "";
  const std::string nans = Count(side->nan_count, "NaN", side->first_nan);
  const std::string infinities =
      Count(side->infinite_count, Noun(side->infinite_count, "infinity", "infinities"),
            side->first_infinite);
  if (nans.empty() && infinities.empty()) return "";
  return runner + " holds " + nans + (nans.empty() || infinities.empty() ? "" : " and ") +
         infinities;
}

std::string LogitsFinding(const OutputRecord& output) {
  for (const GateRecord& gate : output.figures.gates) {
    const bool failed = gate.function == "logits" && gate.verdict == "failed";
    if (!failed || !output.logits) continue;
    const LogitsRecord& logits = *output.logits;
    const bool placed = output.compared == 1 && !logits.kl_max_position.empty();
    return "logits: " + gate.why +
           (placed ? "; the largest divergence, " + FormatG(logits.kl_max, 5) + ", is at " +
                         FormatDims(logits.kl_max_position)
                   : "");
  }
  return "";
}

// Judged as logits alone, whose classes that are -inf on both sides make NaN of every distance.
bool OfMaskedClasses(const OutputRecord& output) {
  const OutputFigures& figures = output.figures;
  const bool nan =
      figures.distances && std::isnan(figures.distances->values[CompareFunction::kL2].value_or(0));
  return nan && output.logits && output.logits->nan == 0 &&
         std::ranges::all_of(figures.gates,
                             [](const GateRecord& gate) { return gate.function == "logits"; });
}

std::string FormatBlock(const PairRecord& pair, const OutputRecord& output, bool several_pairs) {
  const OutputFigures& figures = output.figures;
  std::vector<std::string> lines = {figures.suggestion, ToleranceLine(output),
                                    DescribeBound(output), LogitsFinding(output)};
  for (std::string& line : WorstLines(output)) lines.push_back(std::move(line));
  if (figures.distances && output.elements > 0 && !OfMaskedClasses(output)) {
    lines.push_back(DistanceLine(*figures.distances));
  }
  // Why a metric of nothing is no number.
  for (const GateRecord& gate : figures.gates) {
    if (output.elements == 0 && gate.value) lines.push_back(gate.why);
  }
  lines.push_back(NotFiniteLine(pair.first, figures.first));
  lines.push_back(NotFiniteLine(pair.second, figures.second));
  if (IsRetyped(output)) {
    lines.push_back("the types are " + output.dtype + " and " + output.other_dtype);
  }
  if (ShowsNothing(output)) {
    lines.push_back((HasFailed(output) ? "" : "shows nothing: ") + output.vacuous);
  }
  std::string text = "  output '" + output.name + "'";
  if (output.compared > 1) text += ", iteration " + std::to_string(figures.iteration);
  if (several_pairs) text += ", " + pair.first + " vs. " + pair.second;
  text = VisibleLine(text) + ":\n";
  bool said = false;
  for (const std::string& line : lines) {
    if (line.empty()) continue;
    text += "    " + VisibleLine(line) + "\n";
    said = true;
  }
  return said ? text : "";
}

}  // namespace

std::string FormatFindings(const RunRecord& record, bool all_outputs) {
  std::string text;
  size_t shown = 0;
  size_t left_out = 0;
  for (const PairRecord& pair : record.pairs) {
    for (const OutputRecord& output : pair.outputs) {
      // Elements that were allowed to exceed the tolerance are reported, too.
      const bool excused = output.allowed_share > 0 && output.mismatches > 0;
      if (!all_outputs && Passed(output) && !excused) continue;
      const std::string block = FormatBlock(pair, output, record.pairs.size() > 1);
      if (block.empty()) continue;
      if (!all_outputs && ++shown > kShownOutputs) {
        ++left_out;
      } else {
        text += block;
      }
    }
  }
  if (left_out > 0) {
    text += "  and " + Counted(left_out, "more output") + "; -v or --save-record shows all\n";
  }
  return text;
}

}  // namespace vernier
