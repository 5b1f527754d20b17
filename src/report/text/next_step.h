// Why a run failed, as far as its record shows, and what to type next.
#pragma once

#include <string>

#include "vernier/run_record.h"

namespace vernier {

/// After a mismatch, its likely reason and the next command, as lines; the next command, too, where
/// --compare logits met probabilities. Empty where the record has none of them.
std::string FormatAdvice(const RunRecord& record);

}  // namespace vernier
