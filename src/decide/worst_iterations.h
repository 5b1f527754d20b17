// Which iterations hold the worst flips of several decisions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "vernier/decision_record.h"

namespace vernier {

/// At most `most` iterations, each once, the worst first: those of clear flips and NaN before those
/// of near ties; then by the place of the flip among the worst of its decision, since margins of
/// different outputs have different units. Empty where nothing flips.
std::vector<int64_t> WorstIterationsOf(std::span<const DecisionRecord> decisions, size_t most);

}  // namespace vernier
