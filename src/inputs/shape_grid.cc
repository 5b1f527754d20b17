#include "inputs/shape_grid.h"

#include <algorithm>
#include <utility>

#include "inputs/shape_spec.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

constexpr size_t kMostSets = 10'000;
constexpr std::string_view kUsual = "--input-shapes";

// A pair of braces: its text and what stands in it.
struct Choice {
  std::string text;
  std::vector<std::string> values;
};

Status RefuseGrid(std::string_view flag, const std::string& word, const std::string& why) {
  return InvalidArgument(std::string(flag) +
                         ": expected braces as in X:[{1,2,4},3,224,224], got '" + word +
                         "', in which " + why);
}

Result<Choice> ParseChoice(std::string_view flag, const std::string& word,
                           const std::string& text) {
  Choice choice{text, {}};
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    const std::string value(Trim(text.substr(begin, comma - begin)));
    if (value.empty()) return RefuseGrid(flag, word, "a value is missing");
    choice.values.push_back(value);
    begin = comma + 1;
  }
  return choice;
}

Status CollectChoices(std::string_view flag, const std::string& word,
                      std::vector<Choice>& choices) {
  for (size_t at = word.find_first_of("{}"); at != std::string::npos;) {
    const size_t close = word.find_first_of("{}", at + 1);
    if (word[at] == '}') return RefuseGrid(flag, word, "a closing brace has no opening brace");
    if (close == std::string::npos)
      return RefuseGrid(flag, word,
                        "an opening brace has no closing"
                        " brace");
    if (word[close] == '{') return RefuseGrid(flag, word, "braces cannot be nested");
    const std::string text = word.substr(at + 1, close - at - 1);
    const bool known = std::any_of(choices.begin(), choices.end(),
                                   [&](const Choice& choice) { return choice.text == text; });
    if (!known) {
      VERNIER_ASSIGN_OR_RETURN(Choice choice, ParseChoice(flag, word, text));
      choices.push_back(std::move(choice));
    }
    at = word.find_first_of("{}", close + 1);
  }
  return {};
}

std::string Substitute(std::string word, const std::vector<Choice>& choices,
                       const std::vector<size_t>& chosen) {
  for (size_t i = 0; i < choices.size(); ++i) {
    const std::string braces = "{" + choices[i].text + "}";
    const std::string& value = choices[i].values[chosen[i]];
    for (size_t at = word.find(braces); at != std::string::npos; at = word.find(braces, at)) {
      word.replace(at, braces.size(), value);
    }
  }
  return word;
}

// The next combination, the last choice changing fastest; false after the last.
bool Advance(const std::vector<Choice>& choices, std::vector<size_t>& chosen) {
  for (size_t i = choices.size(); i-- > 0;) {
    if (++chosen[i] < choices[i].values.size()) return true;
    chosen[i] = 0;
  }
  return false;
}

using ShapeSets = std::vector<std::vector<std::string>>;

// The sets that the braces of one set make of it.
Status ExpandBraces(std::string_view flag, std::span<const std::string> words, ShapeSets& grid) {
  std::vector<Choice> choices;
  for (const std::string& word : words) VERNIER_TRY(CollectChoices(flag, word, choices));
  size_t sets = 1;
  for (const Choice& choice : choices) {
    sets *= choice.values.size();
    if (sets > kMostSets) break;
  }
  if (sets > kMostSets - std::min(grid.size(), kMostSets)) {
    return InvalidArgument(std::string(flag) + ": the words give more than " +
                           std::to_string(kMostSets) + " sets of shapes");
  }
  std::vector<size_t> chosen(choices.size());
  do {
    std::vector<std::string>& set = grid.emplace_back();
    for (const std::string& word : words) set.push_back(Substitute(word, choices, chosen));
  } while (Advance(choices, chosen));
  return {};
}

struct NamedWords {
  std::string name;
  std::vector<std::string> words;
};

// The words by the input or pattern that they are for, in the order of first mention.
Result<std::vector<NamedWords>> GroupByName(std::span<const std::string> words,
                                            std::string_view flag) {
  std::vector<NamedWords> groups;
  for (const std::string& word : words) {
    std::vector<Choice> choices;
    VERNIER_TRY(CollectChoices(flag, word, choices));
    const std::string plain = Substitute(word, choices, std::vector<size_t>(choices.size()));
    VERNIER_ASSIGN_OR_RETURN(const std::vector<ShapeSpec> specs,
                             ParseShapeSpecs(std::span(&plain, 1), Strictness::kStrict, flag));
    const std::string& name = specs.front().name;
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const NamedWords& other) { return other.name == name; });
    if (group == groups.end()) group = groups.insert(groups.end(), {name, {}});
    group->words.push_back(word);
  }
  return groups;
}

const NamedWords* WithMostWords(std::span<const NamedWords> groups) {
  const auto most = std::max_element(
      groups.begin(), groups.end(),
      [](const auto& a, const auto& b) { return a.words.size() < b.words.size(); });
  return most == groups.end() ? nullptr : &*most;
}

}  // namespace

Result<ShapeSets> ExpandShapeGrid(std::span<const std::string> words, std::string_view flag) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<NamedWords> groups, GroupByName(words, flag));
  const NamedWords* const most = WithMostWords(groups);
  const size_t turns = most == nullptr ? 1 : most->words.size();
  ShapeSets grid;
  for (size_t turn = 0; turn < turns; ++turn) {
    std::vector<std::string> set;
    for (const NamedWords& group : groups) {
      set.push_back(group.words[turn % group.words.size()]);
    }
    VERNIER_TRY(ExpandBraces(flag, set, grid));
  }
  return grid;
}

Result<std::vector<std::string>> ShapesInTurn(std::span<const std::string> words,
                                              std::string_view flag) {
  const bool any = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.find_first_of("{}") != std::string::npos;
  });
  if (!any) return std::vector<std::string>(words.begin(), words.end());
  VERNIER_ASSIGN_OR_RETURN(const ShapeSets sets, ExpandShapeGrid(words, flag));
  std::vector<std::string> all;
  for (const std::vector<std::string>& set : sets) all.insert(all.end(), set.begin(), set.end());
  return all;
}

Result<int64_t> CountShapeSets(std::span<const std::string> words) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<NamedWords> groups, GroupByName(words, kUsual));
  const NamedWords* const most = WithMostWords(groups);
  return most == nullptr ? 1 : static_cast<int64_t>(most->words.size());
}

Status RefuseSeveralShapes(std::string_view flag, std::span<const std::string> words,
                           std::string_view who) {
  VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> plain, ShapesInTurn(words, flag));
  VERNIER_ASSIGN_OR_RETURN(const std::vector<NamedWords> groups, GroupByName(plain, flag));
  const NamedWords* const most = WithMostWords(groups);
  if (most == nullptr || most->words.size() == 1) return {};
  return InvalidArgument(std::string(flag) + ": expected one shape for '" + most->name + "', got " +
                         std::to_string(most->words.size()) + ": " + std::string(who) +
                         " takes one set of shapes, and '" + most->words[1] +
                         "' would not be used");
}

}  // namespace vernier
