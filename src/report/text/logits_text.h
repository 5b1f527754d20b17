// What --compare logits found of an output, as lines of the log.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/functions/comparison.h"

namespace vernier {

struct LogitsLine {
  std::string text;
  std::optional<bool> passed = {};  ///< of a gate alone
};

/// What was measured, and then a line for each gate.
std::vector<LogitsLine> FormatLogits(const LogitsResult& logits);

/// "'ids' (int64), 'loss' (a scalar)".
std::string FormatNotLogits(const std::vector<std::pair<std::string, std::string>>& outputs);

}  // namespace vernier
