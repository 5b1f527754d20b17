#include "cli/table/command_first.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace vernier {
namespace {

enum class Values { kNone, kOne, kMany };

struct LoggingFlag {
  std::string_view name;
  Values values;
};

constexpr LoggingFlag kLoggingFlags[] = {
    {"--verbose", Values::kNone},    {"--quiet", Values::kNone},   {"--silent", Values::kNone},
    {"--log-format", Values::kMany}, {"--log-file", Values::kOne}, {"--verbosity", Values::kMany},
};

// "-v", "-vvq".
bool IsCounter(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && word.find_first_not_of("vq", 1) == word.npos;
}

// The place behind the option at `at` and its values; `at` where there is none.
size_t EndOfOption(const std::vector<std::string>& words, size_t at, const IsCommand& is_command) {
  if (IsCounter(words[at])) return at + 1;
  const std::string_view name = std::string_view(words[at]).substr(0, words[at].find('='));
  const auto* flag = std::find_if(std::begin(kLoggingFlags), std::end(kLoggingFlags),
                                  [&](const LoggingFlag& known) { return known.name == name; });
  if (flag == std::end(kLoggingFlags)) return at;
  const bool given = name.size() < words[at].size();
  if (given || flag->values == Values::kNone) return at + 1;
  if (flag->values == Values::kOne) return std::min(at + 2, words.size());
  size_t end = at + 1;
  while (end < words.size() && words[end][0] != '-' && !is_command(words[0] + " " + words[end]))
    ++end;
  return end;
}

}  // namespace

std::vector<std::string> CommandFirst(std::vector<std::string> words, const IsCommand& is_command) {
  size_t at = 1;
  while (at < words.size() && !is_command(words[0] + " " + words[at])) {
    const size_t end = EndOfOption(words, at, is_command);
    if (end == at) return words;
    at = end;
  }
  if (at < words.size()) std::rotate(words.begin() + 1, words.begin() + at, words.begin() + at + 1);
  return words;
}

}  // namespace vernier
