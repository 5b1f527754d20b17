#include "cli/shell_words.h"

namespace vernier {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

// Appends what stands between quotes; `at` is behind the opening one, and ends behind the closing.
bool TakeQuoted(std::string_view text, char quote, size_t& at, std::string& word) {
  for (; at < text.size() && text[at] != quote; ++at) {
    const bool escapes = quote == '"' && text[at] == '\\' && at + 1 < text.size() &&
                         (text[at + 1] == '"' || text[at + 1] == '\\');
    if (escapes) ++at;
    word += text[at];
  }
  return at++ < text.size();
}

}  // namespace

Result<std::vector<std::string>> SplitShellWords(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;  // '' is a word, though an empty one
  for (size_t at = 0; at < text.size();) {
    const char c = text[at++];
    if (IsBlank(c)) {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
      continue;
    }
    in_word = true;
    if (c == '\'' || c == '"') {
      if (!TakeQuoted(text, c, at, word)) {
        return InvalidArgument("a quote is not closed in: " + std::string(text));
      }
    } else if (c == '\\' && at < text.size()) {
      word += text[at++];
    } else {
      word += c;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

}  // namespace vernier
