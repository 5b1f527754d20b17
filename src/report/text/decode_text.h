// The tokens that two runners chose, in words.
#pragma once

#include <string>

#include "vernier/run_record.h"

namespace vernier {

/// "118 of 128 tokens of 4 prompts agree (92.2 %); 1 prompt diverges, agreeing tokens before that:
/// median 32, least 22; first at step 22 of sequence 1, prompt 0: 281 against 17, ...; 9 steps
/// behind that were not compared". Empty where nothing was decoded.
std::string FormatDecode(const PairRecord& pair);

/// The sentence of FormatSteps, then that one: a pair over time. Either may be missing.
std::string FormatStepsAndTokens(const PairRecord& pair);

/// Do tokens diverge where the logits are out of tolerance, and does that count?
bool FailsTokens(const PairRecord& pair);

}  // namespace vernier
