#include "run/figures/logits_figures.h"

#include <limits>

#include "core/coordinates.h"

namespace vernier {
namespace {

constexpr double kUnknownLogit = std::numeric_limits<double>::quiet_NaN();

double ShareOfPositions(int64_t some, int64_t all) {
  return all == 0 ? kUnknownLogit : static_cast<double>(some) / static_cast<double>(all);
}

std::vector<int64_t> PositionOf(int64_t row, const LogitsResult& logits) {
  if (row < 0) return {};
  return CoordinatesOf(row, logits.position_dims);
}

}  // namespace

LogitsRecord MakeLogitsRecord(const LogitsResult& logits, bool passed) {
  const LogitMeasures& measures = logits.measures;
  const auto& quantiles = measures.divergence_quantiles;
  return {.passed = passed,
          .axis = logits.axis,
          .classes = logits.classes,
          .positions = measures.positions,
          .compared = measures.compared,
          .masked = measures.masked,
          .nan = measures.nan,
          .infinite = measures.infinite,
          .torn = measures.torn,
          .kl_mean = measures.divergence_mean,
          .kl_error = measures.divergence_error.value_or(kUnknownLogit),
          .kl_median = quantiles[2],
          .kl_p1 = quantiles[0],
          .kl_p5 = quantiles[1],
          .kl_p95 = quantiles[3],
          .kl_p99 = quantiles[4],
          .kl_p99_9 = quantiles[5],
          .kl_max = measures.divergence_most,
          .kl_max_position = PositionOf(measures.worst_row, logits),
          .kl_threshold = logits.kl_threshold,
          .top_probability_rms = measures.top_probability_rms,
          .top1_share = ShareOfPositions(measures.equal_top1, measures.compared),
          .top1_judged = logits.judged_top1(),
          .top1_threshold = logits.top1_threshold,
          .flips = measures.flips,
          .close_flips = measures.close_flips,
          .flip_margin_mean = measures.flip_margin_mean,
          .flip_margin_max = measures.flip_margin_most,
          .flip_max_position = PositionOf(measures.flip_row, logits),
          .top_k = measures.top_k,
          .top_k_share = ShareOfPositions(measures.equal_sets, measures.compared),
          .excluded = measures.excluded};
}

TokensRecord MakeTokensRecord(const TokenLosses& losses) {
  return {.tokens = losses.count(),
          .impossible = losses.impossible(),
          .first_perplexity = losses.first_perplexity(),
          .second_perplexity = losses.second_perplexity(),
          .ratio = losses.ratio(),
          .ratio_error = losses.ratio_error().value_or(kUnknownLogit),
          .probability_rms = losses.probability_rms()};
}

}  // namespace vernier
