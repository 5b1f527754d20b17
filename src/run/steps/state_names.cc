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

// How many words from here say whether it is the old or the new: Transformers' "key_values" behind
// such a word says nothing either, where more follows.
size_t AgeWordsAt(std::span<const std::string_view> age_words, std::span<const std::string> words) {
  if (words.empty() || !IsAmong(age_words, words.front())) return 0;
  const bool caches = words.size() > 3 && words[1] == "key" && words[2] == "values";
  return caches ? 3 : 1;
}

// "last_token_out" as "last.token.out" and "last.token": with and without each of the first words
// that may say the age, and without those behind.
std::vector<std::vector<std::string>> AgeChoices(std::span<const std::string_view> age_words,
                                                 std::span<const std::string> words) {
  constexpr size_t kMostChoices = 16;
  std::vector<std::vector<std::string>> choices(1);
  for (size_t i = 0; i < words.size();) {
    const size_t age = AgeWordsAt(age_words, words.subspan(i));
    const size_t count = std::max<size_t>(age, 1), before = choices.size();
    const std::span<const std::string> taken = words.subspan(i, count);
    const bool doubles = age > 0 && before < kMostChoices;
    choices.reserve(2 * before);  // they are copied from within
    for (size_t k = 0; k < before && doubles; ++k) choices.push_back(choices[k]);
    for (size_t k = 0; k < before && (age == 0 || doubles); ++k) {
      choices[k].insert(choices[k].end(), taken.begin(), taken.end());
    }
    i += count;
  }
  std::erase_if(choices, [](const auto& choice) { return choice.empty(); });
  return choices;
}

std::string JoinStem(const std::vector<std::string>& words) {
  std::string stem;
  for (const std::string& word : words) stem += (stem.empty() ? "" : ".") + word;
  return stem;
}

// And without what PyTorch's h_0 and h_n, stateN and hn end with.
void AddStems(std::vector<std::string> words, bool is_output, std::vector<std::string>& stems) {
  stems.push_back(JoinStem(words));
  std::string& end = words.back();
  if (end == (is_output ? "n" : "0")) {
    words.pop_back();
  } else if (is_output && end.size() > 1 && end.back() == 'n') {
    end.pop_back();
  } else {
    return;
  }
  if (!words.empty()) stems.push_back(JoinStem(words));
}

std::vector<std::string> WholeStems(std::string_view input) {
  std::vector<std::string> stems;
  std::vector<std::string> words = NameWords(input);
  if (!words.empty()) AddStems(std::move(words), false, stems);
  return stems;
}

bool HaveOneInCommon(const std::vector<std::string>& some, const std::vector<std::string>& others) {
  return std::ranges::any_of(some, [&](const std::string& stem) {
    return std::ranges::find(others, stem) != others.end();
  });
}

}  // namespace

std::vector<std::string> StateStems(std::string_view name, bool is_output) {
  const std::vector<std::string> words = NameWords(name);
  std::vector<std::string> stems;
  for (std::vector<std::string>& choice :
       AgeChoices(is_output ? std::span<const std::string_view>(kNewWords) : kOldWords, words)) {
    AddStems(std::move(choice), is_output, stems);
  }
  return stems;
}

NameLikeness LikenessOfNames(std::string_view output, std::string_view input) {
  const std::vector<std::string> of_output = StateStems(output, true);
  if (HaveOneInCommon(of_output, WholeStems(input))) return NameLikeness::kExact;
  const bool alike = HaveOneInCommon(of_output, StateStems(input, false));
  return alike ? NameLikeness::kStem : NameLikeness::kNone;
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
