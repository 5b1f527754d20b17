#include "report/text/logits_text.h"

#include <limits>

#include "core/coordinates.h"
#include "report/text/tokens_text.h"
#include "util/text/number_text.h"
#include "util/values/joined.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

constexpr int kLogitDigits = 5;

std::string LogitNumber(double value) { return FormatG(value, kLogitDigits); }

// Two numbers in as few digits as distinguish them, but no fewer than usual.
std::pair<std::string, std::string> ValueAndLimit(double value, double limit) {
  for (int digits = kLogitDigits; digits < 17; ++digits) {
    std::pair texts(FormatG(value, digits), FormatG(limit, digits));
    if (texts.first != texts.second || !(value != limit)) return texts;
  }
  return {FormatG(value, 17), FormatG(limit, 17)};
}

std::string AtPosition(int64_t row, const LogitsResult& logits) {
  if (row < 0 || logits.position_dims.empty()) return "";
  return " (at " + FormatDims(CoordinatesOf(row, logits.position_dims)) + ")";
}

// "511 of 512 (99.805 %)".
std::string ShareText(int64_t some, int64_t all) {
  const double percent = 100 * static_cast<double>(some) / static_cast<double>(all);
  return std::to_string(some) + " of " + std::to_string(all) + " (" + FormatG(percent, 5) + " %)";
}

std::string Extent(const LogitsResult& logits) {
  const LogitMeasures& measures = logits.measures;
  std::string text = Counted(measures.positions, "position") + " of " +
                     Counted(logits.classes, "logit") + ", along axis " +
                     std::to_string(logits.axis);
  const auto add = [&](int64_t count, const std::string& what) {
    if (count > 0) text += ", " + std::to_string(count) + " " + what;
  };
  add(measures.excluded, "excluded by '" + logits.tokens.mask + "'");
  add(measures.masked, "masked");
  add(measures.nan, "with NaN");
  add(measures.infinite, "with +inf");
  add(measures.torn, "with -inf on one side alone");
  return text;
}

// What of them no position may have.
std::string NotFinite(const LogitMeasures& measures) {
  std::vector<std::string> found;
  if (measures.nan > 0) found.emplace_back("NaN");
  if (measures.infinite > 0) found.emplace_back("+inf");
  if (measures.torn > 0) found.emplace_back("-inf on one side alone");
  return Joined(found);
}

std::string Divergences(const LogitsResult& logits) {
  const LogitMeasures& measures = logits.measures;
  const auto& quantiles = measures.divergence_quantiles;
  std::string text = "KL divergence: mean " + LogitNumber(measures.divergence_mean);
  if (measures.divergence_error) text += " ± " + LogitNumber(*measures.divergence_error);
  text += ", median " + LogitNumber(quantiles[2]) + ", 1 % " + LogitNumber(quantiles[0]) +
          ", 5 % " + LogitNumber(quantiles[1]) + ", 95 % " + LogitNumber(quantiles[3]) + ", 99 % " +
          LogitNumber(quantiles[4]) + ", 99.9 % " + LogitNumber(quantiles[5]) + ", maximum " +
          LogitNumber(measures.divergence_most) + AtPosition(measures.worst_row, logits);
  return text;
}

std::string Decisions(const LogitsResult& logits) {
  const LogitMeasures& measures = logits.measures;
  const std::string first = "Top-1 equal: " + ShareText(measures.equal_top1, measures.compared);
  if (measures.top_k < 2) return first;
  if (measures.top_k >= logits.classes) {
    return first + "; larger sets not compared: --logits-top-k " + std::to_string(measures.top_k) +
           " covers all " + Counted(logits.classes, "class", "classes");
  }
  return first + ", top-" + std::to_string(measures.top_k) +
         " sets equal: " + ShareText(measures.equal_sets, measures.compared);
}

std::string Flips(const LogitsResult& logits) {
  const LogitMeasures& measures = logits.measures;
  return Counted(measures.flips, "flip") + " of the top-1, " +
         std::to_string(measures.close_flips) + " of them close; margin of the reference: mean " +
         LogitNumber(measures.flip_margin_mean) + ", maximum " +
         LogitNumber(measures.flip_margin_most) + AtPosition(measures.flip_row, logits);
}

std::string NextTokens(const LogitsResult& logits) {
  const TokenLosses& losses = logits.measures.tokens;
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  return "Next token: " + FormatTokens({.source = logits.tokens.tokens,
                                        .tokens = losses.count(),
                                        .impossible = losses.impossible(),
                                        .first_perplexity = losses.first_perplexity(),
                                        .second_perplexity = losses.second_perplexity(),
                                        .ratio = losses.ratio(),
                                        .ratio_error = losses.ratio_error().value_or(kNone),
                                        .probability_rms = losses.probability_rms()});
}

LogitsLine GateLine(const std::string& what, const std::string& rule, double value, double limit,
                    bool passed) {
  const auto [found, wanted] = ValueAndLimit(value, limit);
  return {
      what + ": " + found + " (" + rule + ": " + wanted + ") | " + (passed ? "PASSED" : "FAILED"),
      passed};
}

}  // namespace

std::vector<LogitsLine> FormatLogits(const LogitsResult& logits) {
  const LogitMeasures& measures = logits.measures;
  std::vector<LogitsLine> lines = {{Extent(logits)}};
  if (measures.compared + measures.torn > 0) lines.push_back({Divergences(logits)});
  if (measures.compared > 0) {
    lines.push_back({"Probability of the reference's top-1: RMS difference " +
                     LogitNumber(measures.top_probability_rms)});
    lines.push_back({Decisions(logits)});
  }
  if (measures.flips > 0) lines.push_back({Flips(logits)});
  if (measures.tokens.any()) lines.push_back({NextTokens(logits)});
  if (measures.nan + measures.infinite + measures.torn > 0) {
    lines.push_back({NotFinite(measures) + " | FAILED", false});
  }
  if (measures.positions == 0) return lines;
  lines.push_back(GateLine("Mean KL divergence", "tolerance", measures.divergence_mean,
                           logits.kl_threshold, logits.kl_passed()));
  lines.push_back(GateLine("Share of equal top-1", "min required", logits.judged_top1(),
                           logits.top1_threshold, logits.top1_passed()));
  return lines;
}

std::string FormatNotLogits(const std::vector<std::pair<std::string, std::string>>& outputs) {
  std::string text;
  for (const auto& [name, why] : outputs) {
    text += (text.empty() ? "'" : ", '") + name + "' (" + why + ")";
  }
  return text;
}

}  // namespace vernier
