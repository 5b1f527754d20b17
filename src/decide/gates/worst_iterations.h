// Which iterations hold the worst flips of several decisions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vernier/decision_record.h"

namespace vernier {

/// At most `most` iterations, each once, the worst first: those of clear flips, then of samples
/// that are invalid on one side, then of near ties; of samples that are invalid on both sides none.
/// Then by the place of the flip among the worst of its decision, since margins of different
/// outputs have different units. Empty where nothing else flips.
std::vector<int64_t> WorstIterationsOf(std::span<const DecisionRecord> decisions, size_t most);

}  // namespace vernier
