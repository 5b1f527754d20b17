#include "inputs/shape_grid.h"

#include <algorithm>

#include "util/number_text.h"

namespace vernier {
namespace {

constexpr size_t kMostSets = 10'000;

// A pair of braces: its text and what stands in it.
struct Choice {
  std::string text;
  std::vector<std::string> values;
};

Status RefuseGrid(const std::string& word, const std::string& why) {
  return InvalidArgument("--input-shapes: expected braces as in X:[{1,2,4},3,224,224], got '" +
                         word + "', in which " + why);
}

Result<Choice> ParseChoice(const std::string& word, const std::string& text) {
  Choice choice{text, {}};
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    const std::string value(Trim(text.substr(begin, comma - begin)));
    if (value.empty()) return RefuseGrid(word, "a value is missing");
    choice.values.push_back(value);
    begin = comma + 1;
  }
  return choice;
}

Status CollectChoices(const std::string& word, std::vector<Choice>& choices) {
  for (size_t at = word.find_first_of("{}"); at != std::string::npos;) {
    const size_t close = word.find_first_of("{}", at + 1);
    if (word[at] == '}') return RefuseGrid(word, "a brace is closed that is not open");
    if (close == std::string::npos) return RefuseGrid(word, "a brace is not closed");
    if (word[close] == '{') return RefuseGrid(word, "braces stand within braces");
    const std::string text = word.substr(at + 1, close - at - 1);
    const bool known = std::any_of(choices.begin(), choices.end(),
                                   [&](const Choice& choice) { return choice.text == text; });
    if (!known) {
      VERNIER_ASSIGN_OR_RETURN(Choice choice, ParseChoice(word, text));
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

}  // namespace

Result<std::vector<std::vector<std::string>>> ExpandShapeGrid(std::span<const std::string> words) {
  std::vector<Choice> choices;
  for (const std::string& word : words) VERNIER_TRY(CollectChoices(word, choices));
  size_t sets = 1;
  for (const Choice& choice : choices) {
    sets *= choice.values.size();
    if (sets > kMostSets) {
      return InvalidArgument("--input-shapes: the braces give more than " +
                             std::to_string(kMostSets) + " sets of shapes");
    }
  }
  std::vector<std::vector<std::string>> grid;
  std::vector<size_t> chosen(choices.size());
  do {
    std::vector<std::string>& set = grid.emplace_back();
    for (const std::string& word : words) set.push_back(Substitute(word, choices, chosen));
  } while (Advance(choices, chosen));
  return grid;
}

}  // namespace vernier
