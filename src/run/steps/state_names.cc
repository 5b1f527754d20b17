// Which tensors belong together as the old and the new state, by their names alone.
#include <algorithm>
#include <span>
#include <string_view>

#include "run/steps/state_likeness.h"
#include "run/steps/state_pairs.h"

namespace vernier {
namespace {

constexpr std::string_view kNewWords[] = {"new", "next", "present", "out", "output", "updated"};
constexpr std::string_view kOldWords[] = {"past", "prev", "previous", "last", "old", "in", "input"};
constexpr std::string_view kOnlyNew[] = {"new", "next", "present", "updated"};
constexpr std::string_view kOnlyStates[] = {"past", "prev", "previous"};

bool IsAmong(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

enum class CharKind : uint8_t { kSeparator, kLower, kUpper, kDigit };

CharKind KindOfChar(char c) {
  if (c >= '0' && c <= '9') return CharKind::kDigit;
  if (c >= 'A' && c <= 'Z') return CharKind::kUpper;
  const bool separates = c == '_' || c == '.' || c == '/' || c == ':' || c == '-' || c == ' ';
  return separates ? CharKind::kSeparator : CharKind::kLower;
}

// "past_key_values.0.key" as past, key, values, 0, key; "stateN" as state, n.
std::vector<std::string> NameWords(std::string_view name) {
  std::vector<std::string> words;
  CharKind before = CharKind::kSeparator;
  for (const char c : name) {
    const CharKind kind = KindOfChar(c);
    const bool goes_on = kind == before || (before == CharKind::kUpper && kind == CharKind::kLower);
    if (kind != CharKind::kSeparator) {
      if (!goes_on || words.empty()) words.emplace_back();
      words.back() += kind == CharKind::kUpper ? static_cast<char>(c - 'A' + 'a') : c;
    }
    before = kind;
  }
  return words;
}

// Transformers' "key_values" behind the word says nothing either.
void DropAgeWords(std::span<const std::string_view> age_words, std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size();) {
    if (!IsAmong(age_words, words[i])) {
      ++i;
      continue;
    }
    const bool caches = i + 2 < words.size() && words[i + 1] == "key" && words[i + 2] == "values";
    const auto first = words.begin() + static_cast<ptrdiff_t>(i);
    words.erase(first, first + (caches ? 3 : 1));
  }
}

std::string JoinStem(const std::vector<std::string>& words) {
  std::string stem;
  for (const std::string& word : words) stem += (stem.empty() ? "" : ".") + word;
  return stem;
}

}  // namespace

std::vector<std::string> StateStems(std::string_view name, bool is_output) {
  std::vector<std::string> words = NameWords(name);
  DropAgeWords(is_output ? std::span<const std::string_view>(kNewWords) : kOldWords, words);
  std::vector<std::string> stems;
  if (words.empty()) return stems;
  stems.push_back(JoinStem(words));
  std::string& end = words.back();
  // PyTorch's h_0 and h_n, stateN, hn.
  if (end == (is_output ? "n" : "0")) {
    words.pop_back();
  } else if (is_output && end.size() > 1 && end.back() == 'n') {
    end.pop_back();
  } else {
    return stems;
  }
  if (!words.empty()) stems.push_back(JoinStem(words));
  return stems;
}

bool IsNewName(std::string_view output) {
  return std::ranges::any_of(NameWords(output),
                             [](const std::string& word) { return IsAmong(kOnlyNew, word); });
}

bool IsStateName(std::string_view input) {
  return std::ranges::any_of(NameWords(input),
                             [](const std::string& word) { return IsAmong(kOnlyStates, word); });
}

}  // namespace vernier
