// The words of --reset: who resets the state that a model keeps inside, and how.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/runner_plan.h"
#include "vernier/status.h"

namespace vernier {

/// Have models of this backend methods that --reset can name? Plug-ins that are not vernier's may.
bool HasMethods(std::string_view backend);

/// `[RUNNER:]METHOD` each. kInvalidArgument, naming the word: for what is no such word, for one
/// that is about no runner whose models have methods, and for a second one about a runner.
Status CheckResetWords(std::span<const std::string> words, std::span<const RunnerPlan> runners);

/// The method that resets this runner, by words that were checked: that of its label, else the one
/// without a label. Empty: none is named.
std::string ResetMethodOf(std::span<const std::string> words, const RunnerPlan& runner);

}  // namespace vernier
