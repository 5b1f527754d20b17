// The measurements of --compare logits for one output, as the record keeps them.
#pragma once

#include "compare/functions/comparison.h"
#include "vernier/run_record.h"

namespace vernier {

LogitsRecord MakeLogitsRecord(const LogitsResult& logits, bool passed);

/// The numbers of `losses`; what they are of is left empty.
TokensRecord MakeTokensRecord(const TokenLosses& losses);

}  // namespace vernier
