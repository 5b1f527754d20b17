// What --compare logits knows of the tokens that were fed, in words.
#pragma once

#include <string>
#include <vector>

#include "vernier/run_record.h"

namespace vernier {

/// "perplexity 5.0123 and 5.0127 over 31 tokens of 'input_ids', ratio 1.0000798 ± 2.1e-05, RMS
/// difference of the token's probability 0.00012; 4 of 36 positions excluded by 'attention_mask'".
/// A part of which nothing is known is left out.
std::string FormatTokens(const TokensRecord& tokens);

/// "over 126 positions of 48 iterations mean KL divergence 0.0010037 ± 0.000138, maximum 0.0078,
/// equal top-1 97.619 % (3 flips, 1 of them close)".
std::string FormatLogitsTotal(const LogitsTotalsRecord& total);

/// Both of each output of a pair that has them, with its name.
std::vector<std::string> FormatTokens(const PairRecord& pair);

}  // namespace vernier
