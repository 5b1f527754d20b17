#include "run/steps/reset_words.h"

#include <algorithm>
#include <set>

#include "backend/known/known_backends.h"
#include "record/schema/runner_name.h"
#include "run/maps/name_maps.h"
#include "run/steps/step_words.h"

namespace vernier {
namespace {

constexpr std::string_view kResetFlag = "--reset";

bool IsMethodName(std::string_view text) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  const bool begins = !text.empty() && (text[0] < '0' || text[0] > '9');
  return begins && text.find_first_not_of(kLetters) == std::string_view::npos;
}

}  // namespace

bool HasMethods(std::string_view backend) {
  return FindKnownBackend(backend) == nullptr ||
         IsKnownToHave(backend, OptionMeaning::kResetMethod);
}

Status CheckResetWords(std::span<const std::string> words, std::span<const RunnerPlan> runners) {
  std::vector<std::string> names;
  for (const RunnerPlan& runner : runners) names.push_back(runner.name);
  std::set<std::string> labels;
  for (const std::string& word : words) {
    std::string method = word;
    const std::string label = TakeLabel(names, method);
    if (!IsMethodName(method)) {
      const size_t colon = method.find(':');
      const std::string owner = method.substr(0, colon);
      const auto is_owner = [&](const std::string& name) { return IsCalled(name, owner); };
      const bool unknown = colon != std::string::npos && std::ranges::none_of(names, is_owner);
      return BadStepWord(
          kResetFlag, word,
          unknown ? "there is no runner '" + owner + "'"
                  : "expected [RUNNER:]METHOD, and '" +
                        (colon == std::string::npos ? method : method.substr(colon + 1)) +
                        "' is no name of one");
    }
    if (!labels.insert(label).second) {
      return BadStepWord(kResetFlag, word,
                         label.empty() ? "a method for all runners is given already"
                                       : "'" + label + "' has a method already");
    }
    const bool any = std::ranges::any_of(runners, [&](const RunnerPlan& runner) {
      return HasMethods(runner.backend) && (label.empty() || IsCalled(runner.name, label));
    });
    if (any) continue;
    return BadStepWord(kResetFlag, word,
                       (label.empty() ? "no runner" : "'" + label + "'") +
                           std::string(label.empty() ? " is" : " is not") +
                           " TorchScript or Python; the state of others is reset without it");
  }
  return {};
}

std::string ResetMethodOf(std::span<const std::string> words, const RunnerPlan& runner) {
  if (!HasMethods(runner.backend)) return {};
  std::string for_all;
  for (const std::string& word : words) {
    const size_t colon = word.rfind(':');
    if (colon == std::string::npos) {
      for_all = word;
    } else if (IsCalled(runner.name, word.substr(0, colon))) {
      return word.substr(colon + 1);
    }
  }
  return for_all;
}

}  // namespace vernier
