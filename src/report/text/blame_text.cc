#include "report/text/blame_text.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "record/schema/side_names.h"
#include "report/text/decision_text.h"
#include "report/text/step_text.h"
#include "report/text/text_table.h"
#include "util/text/number_text.h"
#include "util/text/visible_text.h"
#include "util/values/joined.h"
#include "util/values/plural_text.h"
#include "vernier/tensor.h"

namespace vernier {
namespace {

constexpr size_t kShownLayers = 10;
constexpr size_t kShownNames = 5;
constexpr size_t kWidestName = 48;
constexpr double kHeadroomShare = 0.001;

std::string TimesText(const std::optional<double>& times) {
  return times ? FormatG(*times, 3) : std::string("-");
}

// The end of a long name says more than its beginning.
std::string Shortened(const std::string& name) {
  if (name.size() <= kWidestName) return VisibleLine(name);
  return "..." + VisibleLine(name.substr(name.size() - kWidestName + 3));
}

// The first columns are numbers.
TextTable WithNumbers(size_t count) { return {.indent = 4, .gap = 1, .end_number = count}; }

// What a layer does as part of something: fused with others, or within the model.
double Together(const BlameLayerRecord& layer) {
  return std::max(layer.in_place_error.value_or(0), layer.fused_error.value_or(0));
}

double Worst(const BlameLayerRecord& layer) {
  return std::max(layer.own_error.value_or(0), Together(layer));
}

std::string Covered(const BlameRecord& record) {
  const BlameCoverage coverage = CoverageOf(record);
  std::string text = ", " + Counted(coverage.elements, "element");
  if (coverage.constant > 0) {
    text += "; shows little: " + Counted(coverage.constant, "tensor holds", "tensors hold") +
            " one value only";
  }
  return text;
}

std::string Culprits(const BlameRecord& record) {
  if (record.culprits.empty()) return "";
  std::string text = "To blame:\n";
  for (size_t i = 0; i < std::min(record.culprits.size(), kShownLayers); ++i) {
    const BlameCulprit& culprit = record.culprits[i];
    text += "    " + std::to_string(i + 1) + ". " +
            VisibleLine(culprit.node + " [" + culprit.op_type) + "], " +
            JoinedUpTo(culprit.outputs, kShownNames, Shortened) + "\n       " +
            VisibleLine(culprit.why) + "\n";
  }
  if (record.culprits.size() > kShownLayers) {
    text += "    and " + std::to_string(record.culprits.size() - kShownLayers) + " more\n";
  }
  return text;
}

std::string OperatorOf(const BlameLayerRecord& layer) {
  if (layer.group.empty()) return layer.op_type;
  return layer.op_type + " (" + Counted(layer.group.size(), "node") + ")";
}

std::string Ranking(const BlameRecord& record, bool all_layers) {
  if (record.layers.empty()) return "";
  std::vector<const BlameLayerRecord*> layers;
  for (const BlameLayerRecord& layer : record.layers) layers.push_back(&layer);
  const bool together = std::any_of(layers.begin(), layers.end(),
                                    [](const auto* layer) { return Together(*layer) > 0; });
  const bool fine = record.culprits.empty() && std::ranges::all_of(layers, [](const auto* layer) {
                      return Worst(*layer) <= 1 && layer->total_error <= 1;
                    });
  const std::string none = fine ? ", of which none is over 1:\n" : ":\n";
  std::string title =
      "Layers in topological order, errors in multiples of their error bounds" + none;
  if (!all_layers) {
    title = "Layers by own error" + std::string(together ? " or that of their fusion" : "") +
            ", in multiples of their error bounds" + none;
    std::stable_sort(layers.begin(), layers.end(),
                     [](const auto* a, const auto* b) { return Worst(*a) > Worst(*b); });
    if (layers.size() > kShownLayers) layers.resize(kShownLayers);
  }
  std::vector<TextRow> rows = {{"own", "total", "layer", "operator", "tensors"}};
  for (const BlameLayerRecord* layer : layers) {
    std::vector<std::string> outputs;
    for (const BlameTensorRecord& tensor : layer->outputs) outputs.push_back(tensor.name);
    rows.push_back({TimesText(layer->own_error), TimesText(layer->total_error),
                    Shortened(layer->node), OperatorOf(*layer), JoinedUpTo(outputs, 1, Shortened)});
  }
  if (!together) return title + FormatTable(rows, WithNumbers(2));
  rows.front().insert(rows.front().begin() + 1, "fused/in place");
  for (size_t i = 0; i < layers.size(); ++i) {
    const bool known = layers[i]->fused_error || layers[i]->in_place_error;
    rows[i + 1].insert(rows[i + 1].begin() + 1, known ? FormatG(Together(*layers[i]), 3) : "-");
  }
  return title + FormatTable(rows, WithNumbers(3));
}

std::string Values(const MagnitudeRecord& m) {
  std::string text = FormatG(m.min, 4) + " to " + FormatG(m.max, 4);
  if (m.nan_count > 0) text += ", " + std::to_string(m.nan_count) + " NaN";
  if (m.infinite_count > 0) text += ", " + std::to_string(m.infinite_count) + " infinite";
  return text;
}

std::string FirstNonFinite(const BlameRecord& record) {
  if (!record.first_nonfinite) return "";
  const NonFiniteRecord& first = *record.first_nonfinite;
  std::string text = "First not finite: " + VisibleLine(first.node + " [" + first.op_type) +
                     "], '" + VisibleLine(first.output) + "' (" +
                     (first.side == "both" ? "both sides" : "the " + first.side) +
                     "): " + std::to_string(first.nan_count) + " NaN, " +
                     std::to_string(first.infinite_count) + " infinite, the first at " +
                     FormatDims(first.first) + "\n";
  for (const BlameOperand& operand : first.operands) {
    text += "    from '" + VisibleLine(operand.name) + "': " + Values(operand.values) + "\n";
  }
  return text;
}

std::string Headroom(const BlameRecord& record) {
  std::vector<TextRow> rows;
  for (const BlameLayerRecord& layer : record.layers) {
    for (const BlameTensorRecord& tensor : layer.outputs) {
      const MagnitudeRecord& m = tensor.reference;
      const bool tight = m.float16_overflow > 0 || m.float16_denormal > kHeadroomShare;
      if (!tight || tensor.dtype == "float16") continue;
      rows.push_back({FormatG(100 * m.float16_overflow, 3) + " %",
                      FormatG(100 * m.float16_denormal, 3) + " %", FormatG(m.largest, 3),
                      Shortened(tensor.name)});
    }
  }
  if (rows.empty()) return "";
  const size_t count = rows.size();
  if (rows.size() > kShownNames) rows.resize(kShownNames);
  rows.insert(rows.begin(), {"overflow", "denormal", "largest", "tensor"});
  return "In float16, " + Counted(count, "tensor") + " would lose values:\n" +
         FormatTable(rows, WithNumbers(3));
}

// Values that agree say nothing of whoever reads a tensor by its type.
std::string Retyped(const BlameRecord& record) {
  const int64_t count = CoverageOf(record).retyped;
  for (const BlameLayerRecord& layer : record.layers) {
    for (const BlameTensorRecord& tensor : layer.outputs) {
      if (tensor.reference_dtype.empty()) continue;
      return VisibleLine("Types differ: " + Counted(count, "tensor") + ", " +
                         (count == 1 ? "" : "the first ") + "'" + Shortened(tensor.name) + "' of " +
                         Shortened(layer.node) + " [" + layer.op_type + "]: " + tensor.dtype +
                         ", and " + tensor.reference_dtype + " in the reference") +
             "\n";
    }
  }
  return "";
}

std::string Unexposed(const BlameRecord& record) {
  if (record.unexposed.empty()) return "";
  std::vector<std::string> names;
  for (const UnexposedTensor& tensor : record.unexposed) names.push_back(tensor.name);
  return "Not looked at: " + Counted(names.size(), "tensor") + " (" +
         JoinedUpTo(names, kShownNames, Shortened) + "); " +
         VisibleLine(record.unexposed.front().why) + (names.size() > 1 ? ", ..." : "") + "\n";
}

std::string Fused(const BlameRecord& record) {
  if (record.fused_away.empty()) return "";
  const size_t count = record.fused_away.size();
  return "Fused away in the candidate: " + Counted(count, "tensor") + " (" +
         JoinedUpTo(record.fused_away, kShownNames, Shortened) + "), compared in a session of " +
         Noun(count, "its", "their") + " own\n";
}

}  // namespace

std::string FormatBlame(const BlameRecord& given, bool all_layers) {
  const BlameRecord record = WithSideNames(given, NameStyle::kShort);
  std::string text =
      "Blame: " + VisibleLine(record.candidate + " against " + record.reference) + ", " +
      (record.layers.empty()
           ? std::string("no layer")
           : Counted(record.compared, "tensor") + " of " + Counted(record.layers.size(), "layer")) +
      " compared" + Covered(record) +
      (record.iterations > 1 ? ", the worst of " + Counted(record.iterations, "iteration") : "") +
      "\n";
  if (record.at_step) text += VisibleLine(FormatBlameStep(*record.at_step)) + "\n";
  if (record.on_flips) text += FormatBlameFlips(*record.on_flips) + "\n";
  text += Culprits(record);
  if (record.on_flips) text += FormatMarginLosses(*record.on_flips);
  text += Ranking(record, all_layers);
  if (!record.first_divergence.empty()) {
    text += "First divergence: " + VisibleLine(record.first_divergence) + "\n";
  }
  text += Retyped(record);
  text += FirstNonFinite(record);
  text += Headroom(record);
  text += Fused(record);
  text += Unexposed(record);
  const DisturbanceRecord& disturbance = record.disturbance;
  if (disturbance.measured && !disturbance.finding.empty()) {
    text += VisibleLine(disturbance.finding) + "\n";
  }
  for (const std::string& note : record.notes) text += "note: " + note + "\n";
  if (!record.error.empty()) return text + "Not finished: " + record.error + "\n";
  if (!record.culprits.empty()) return text;
  if (!record.within_bounds.empty()) return text + VisibleLine(record.within_bounds) + "\n";
  const BlameCoverage coverage = CoverageOf(record);
  text += "Nothing is to blame";
  if (coverage.shows_nothing()) {
    text += ", but that shows nothing: every tensor holds one value only";
  }
  return text + (coverage.retyped > 0 ? ", but types differ.\n" : ".\n");
}

}  // namespace vernier
