#include "util/text/split_words.h"

#include <iterator>
#include <sstream>

namespace vernier {
namespace {

bool Separates(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Between double quotes a backslash only quotes these.
bool IsSpecialInDoubleQuotes(char c) { return c == '"' || c == '\\' || c == '$' || c == '`'; }

}  // namespace

Result<std::vector<std::string>> SplitWords(std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && Separates(c)) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    const bool has_next = i + 1 < text.size();
    if (c == '\\' && quote != '\'') {
      if (!has_next) return InvalidArgument("nothing follows the last backslash");
      if (quote != 0 && !IsSpecialInDoubleQuotes(text[i + 1])) words.back() += c;
      words.back() += text[++i];
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else {
      words.back() += c;
    }
  }
  if (quote != 0) return InvalidArgument(std::string("a quote ") + quote + " is not closed");
  return words;
}

std::vector<std::string> SplitAtSpaces(std::string_view text) {
  std::istringstream stream{std::string(text)};
  return std::vector<std::string>(std::istream_iterator<std::string>(stream), {});
}

}  // namespace vernier
