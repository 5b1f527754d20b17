// Which states a reference has fed all runners with (--state reference), as saved outputs keep it
// in the text of their steps: two references that are no one model may have fed the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "run/steps/step_states.h"
#include "vernier/tensor.h"

namespace vernier {

/// Of the values that a step was fed with as the reference's state; not of its inputs' names, which
/// another export may have otherwise. nullopt: no reference feeds it, or not all of its state.
std::optional<uint32_t> HashOfFedState(const StepStates& states, const TensorMap& feed);

/// The text of DescribeFeeding() with these, one an iteration in their order.
std::string WithFedStates(const std::string& feeding, const std::vector<uint32_t>& states);

/// What is there of it; empty: it is not known.
std::vector<uint32_t> FedStatesIn(const std::string& feeding);

/// The text with those of the iterations at these places alone.
std::string FedStatesAt(const std::string& feeding, const std::vector<size_t>& places);

/// The text without any.
std::string WithoutFedStates(const std::string& feeding);

/// The text where JoinFeedings() has none: of what the parts have in common where their runners
/// were fed in one run, and of more that tells them apart. It says nothing but that steps were fed
/// in several ways, and whether two such texts are of the same parts.
std::string MixedFeeding(const std::vector<std::pair<std::string, std::string>>& parts);
bool IsMixedFeeding(const std::string& feeding);

}  // namespace vernier
