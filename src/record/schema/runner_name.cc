#include "record/schema/runner_name.h"

#include <algorithm>
#include <string_view>

#include "util/text/number_text.h"

namespace vernier {
namespace {

constexpr std::string_view kTime = "-00/00/00-00:00:00";

bool IsTime(std::string_view text) {
  return std::ranges::equal(
      text, kTime, [](char c, char pattern) { return pattern == '0' ? IsDigit(c) : c == pattern; });
}

// As other locales write it, perhaps without leading zeros.
bool MayBeTime(std::string_view text) {
  constexpr auto kLeastDigits = 8;
  return text.starts_with('-') && std::ranges::count_if(text, IsDigit) >= kLeastDigits;
}

}  // namespace

std::string WithoutTime(const std::string& name) {
  constexpr std::string_view kMark = "-N", kUnscripted = "-runner-N";
  for (size_t mark = name.find(kMark); mark != std::string::npos;
       mark = name.find(kMark, mark + 1)) {
    size_t end = mark + kMark.size();
    while (end < name.size() && IsDigit(name[end])) ++end;
    if (end == mark + kMark.size()) continue;
    const std::string number = name.substr(0, mark + kMark.size());
    const std::string_view rest = std::string_view(name).substr(end);
    if (IsTime(rest) || (number.ends_with(kUnscripted) && MayBeTime(rest))) {
      return name.substr(0, end);
    }
  }
  return name;
}

bool IsCalled(const std::string& name, const std::string& word) {
  const std::string plain = WithoutTime(name);
  return name == word || plain == word || plain.starts_with(word + "-N") ||
         plain.starts_with(word + "-runner-N");
}

}  // namespace vernier
