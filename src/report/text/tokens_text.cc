#include "report/text/tokens_text.h"

#include <cmath>

#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

std::string TokenNumber(double value) { return FormatG(value, 5); }

std::string PerplexityInWords(const TokensRecord& tokens) {
  std::string text = "perplexity " + TokenNumber(tokens.first_perplexity) + " and " +
                     TokenNumber(tokens.second_perplexity) + " over " +
                     Counted(tokens.tokens, "token") + " of '" + tokens.source + "', ratio " +
                     FormatG(tokens.ratio, 8);
  if (!std::isnan(tokens.ratio_error)) text += " ± " + FormatG(tokens.ratio_error, 3);
  return text + ", RMS difference of the token's probability " +
         TokenNumber(tokens.probability_rms);
}

}  // namespace

std::string FormatTokens(const TokensRecord& tokens) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (tokens.tokens > 0) add(PerplexityInWords(tokens));
  if (tokens.impossible > 0) {
    add(Counted(tokens.impossible, "token") + " of '" + tokens.source +
        "' left out: -inf on both sides");
  }
  if (tokens.excluded > 0) {
    const std::string count = tokens.excluded == tokens.positions
                                  ? Counted(tokens.excluded, "position")
                                  : CountedOf(tokens.excluded, tokens.positions, "position");
    add(count + " excluded by '" + tokens.mask + "'" +
        (tokens.excluded_differ > 0 ? ", which differ" : ""));
  }
  if (tokens.masked_failed > 0) {
    const std::string what = Counted(tokens.masked_mismatches, "element") + " out of tolerance";
    add((tokens.masked_mismatches > 0 ? what : "fails") + " at positions where '" + tokens.mask +
        "' is 0 (--mask " + tokens.mask + " leaves them out)");
  }
  return text;
}

std::string FormatLogitsTotal(const LogitsTotalsRecord& total) {
  std::string text = "over " + Counted(total.compared, "position") + " of " +
                     Counted(total.iterations, "iteration") + " mean KL divergence " +
                     TokenNumber(total.kl_mean);
  if (!std::isnan(total.kl_error)) text += " ± " + FormatG(total.kl_error, 3);
  text += ", maximum " + TokenNumber(total.kl_max) + ", equal top-1 " +
          TokenNumber(100 * total.top1_share) + " %";
  if (total.flips > 0) {
    text += " (" + Counted(total.flips, "flip") + ", " + std::to_string(total.close_flips) +
            " of them close)";
  }
  if (total.nan > 0) text += "; " + Counted(total.nan, "position") + " with NaN";
  if (total.infinite > 0) text += "; " + Counted(total.infinite, "position") + " with +inf";
  return text;
}

std::vector<std::string> FormatTokens(const PairRecord& pair) {
  std::vector<std::string> lines;
  for (const OutputRecord& output : pair.outputs) {
    if (!output.logits_total) continue;
    lines.push_back("output '" + output.name + "': " + FormatLogitsTotal(*output.logits_total));
  }
  TokensRecord masked;  // of the outputs of which nothing else is known, together
  std::string first;
  size_t others = 0;
  for (const OutputRecord& output : pair.outputs) {
    const std::string text = output.tokens ? FormatTokens(*output.tokens) : "";
    if (text.empty()) continue;
    const TokensRecord& tokens = *output.tokens;
    const bool tells_more = tokens.tokens > 0 || tokens.impossible > 0 ||
                            tokens.excluded_differ > 0 || tokens.masked_failed > 0;
    if (tells_more) {
      lines.push_back("output '" + output.name + "': " + text);
      continue;
    }
    if (first.empty()) {
      first = output.name;
    } else {
      ++others;
    }
    masked.mask = tokens.mask;
    masked.positions += tokens.positions;
    masked.excluded += tokens.excluded;
  }
  if (first.empty()) return lines;
  lines.push_back("output '" + first + "'" +
                  (others == 0 ? "" : " and " + std::to_string(others) + " more") + ": " +
                  FormatTokens(masked));
  return lines;
}

}  // namespace vernier
