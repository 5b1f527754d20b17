#include "tensorrt/library/option_words.h"

#include <fnmatch.h>

#include <charconv>

namespace vernier::trt {

std::optional<std::vector<std::string>> WordsOf(const sdk::Options& options, std::string_view key) {
  const std::vector<std::string> occurrences = options.GetAll(key);
  if (occurrences.empty()) return std::nullopt;
  std::vector<std::string> words;
  std::string_view rest = occurrences.back();
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return words;
}

bool IsOn(const sdk::Options& options, std::string_view key) {
  return !options.GetAll(key).empty();
}

std::optional<std::string> ValueOf(const sdk::Options& options, std::string_view key) {
  std::vector<std::string> occurrences = options.GetAll(key);
  if (occurrences.empty()) return std::nullopt;
  return std::move(occurrences.back());
}

Result<std::optional<int64_t>> NumberOf(const sdk::Options& options, std::string_view key,
                                        std::string_view option) {
  const std::optional<std::string> text = ValueOf(options, key);
  if (!text) return std::optional<int64_t>();
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error == std::errc() && end == text->data() + text->size()) return std::optional(number);
  return InvalidArgument(std::string(option) + ": expected a whole number, got '" + *text + "'");
}

Result<NamedWord> SplitNamed(std::string_view word, std::string_view option) {
  const size_t colon = word.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == word.size()) {
    return InvalidArgument(std::string(option) + ": expected NAME:VALUE, got '" +
                           std::string(word) + "'");
  }
  return NamedWord{std::string(word.substr(0, colon)), std::string(word.substr(colon + 1))};
}

bool IsPattern(std::string_view word) {
  return word.find_first_of("*?[") != std::string_view::npos;
}

bool Matches(const std::string& pattern, const std::string& name) {
  return ::fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
}

}  // namespace vernier::trt
