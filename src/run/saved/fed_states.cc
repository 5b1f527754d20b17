#include "run/saved/fed_states.h"

#include <algorithm>
#include <span>
#include <sstream>
#include <string_view>

#include "io/bytes/checksum.h"

namespace vernier {
namespace {

constexpr std::string_view kFedStates = "fed-states ";
constexpr std::string_view kMixed = "mixed ";
// What AreOfOneRun() looks at.
constexpr std::string_view kOfRuns[] = {"hash ", "--initial-state ", "reference ", kMixed};
constexpr size_t kDigits = 8;

}  // namespace

std::optional<uint32_t> HashOfFedState(const StepStates& states, const TensorMap& feed) {
  std::vector<std::string> inputs = states.StateInputs();
  if (states.plan().state != StateSource::kReference || inputs.empty()) return std::nullopt;
  if (const std::string tokens = states.TokensInput(); !tokens.empty()) inputs.push_back(tokens);
  uint64_t sum = 0;
  for (const std::string& input : inputs) {
    const Tensor* const state = Find(feed, input);
    if (state == nullptr) return std::nullopt;
    sum += HashFeed({{"", *state}});
  }
  // In the order of the other network's inputs they may come otherwise.
  return static_cast<uint32_t>(sum ^ (sum >> 32U));
}

std::string WithoutFedStates(const std::string& feeding) {
  std::string text;
  std::istringstream lines(feeding);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kFedStates)) text += line + '\n';
  }
  return text;
}

std::string WithFedStates(const std::string& feeding, const std::vector<uint32_t>& states) {
  if (feeding.empty() || states.empty()) return feeding;
  std::string line(kFedStates);
  for (const uint32_t state : states) {
    const std::string digits = ChecksumText(state);
    line += std::string(kDigits - digits.size(), '0') + digits;
  }
  return WithoutFedStates(feeding) + line + '\n';
}

std::vector<uint32_t> FedStatesIn(const std::string& feeding) {
  std::vector<uint32_t> states;
  std::istringstream lines(feeding);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kFedStates)) continue;
    for (size_t i = kFedStates.size(); i + kDigits <= line.size(); i += kDigits) {
      const auto state = ParseChecksum(std::string_view(line).substr(i, kDigits));
      if (!state) return {};
      states.push_back(static_cast<uint32_t>(*state));
    }
  }
  return states;
}

std::string FedStatesAt(const std::string& feeding, const std::vector<size_t>& places) {
  const std::vector<uint32_t> states = FedStatesIn(feeding);
  std::vector<uint32_t> kept;
  for (const size_t place : places) {
    if (place < states.size()) kept.push_back(states[place]);
  }
  const std::string without = WithoutFedStates(feeding);
  return kept.size() == places.size() ? WithFedStates(without, kept) : without;
}

std::string MixedFeeding(const std::vector<std::pair<std::string, std::string>>& parts) {
  std::string text;
  for (const auto& [feeding, more] : parts) {
    std::istringstream lines(feeding);
    for (std::string line; std::getline(lines, line);) {
      const auto begins = [&](std::string_view flag) { return line.starts_with(flag); };
      if (std::ranges::any_of(kOfRuns, begins)) text += line + '\n';
    }
    text += more + '\n';
  }
  Checksum sum;
  sum.Add(std::as_bytes(std::span(text)));
  return std::string(kMixed) + ChecksumText(sum.value()) + '\n';
}

bool IsMixedFeeding(const std::string& feeding) { return feeding.starts_with(kMixed); }

}  // namespace vernier
