#include "cli/flag_suggestion.h"

#include <vector>

#include "util/close_matches.h"

namespace vernier {
namespace {

struct RemovedFlag {
  std::string_view flag;
  std::string_view replacement;
};

// Flags of older Polygraphy releases that people's scripts still use.
constexpr RemovedFlag kRemoved[] = {
    {"--int-min", "--val-range"},
    {"--int-max", "--val-range"},
    {"--float-min", "--val-range"},
    {"--float-max", "--val-range"},
    {"--trt-config-func-name", "--trt-config-script"},
    {"--trt-network-func-name", "--trt-network-postprocess-script"},
};

}  // namespace

std::optional<std::string> SuggestFlag(const OptionTable& table, std::string_view word) {
  word = word.substr(0, word.find('='));
  constexpr size_t kLongestFlag = 64;  // resemblance takes cubic time
  if (word.size() < 4 || word.size() > kLongestFlag || word.front() != '-') return std::nullopt;
  for (const RemovedFlag& removed : kRemoved) {
    if (word == removed.flag) return std::string(removed.replacement);
  }
  std::vector<std::string_view> known;
  for (const FlagEntry& entry : table.flags()) {
    if (entry.flag.starts_with("--")) known.push_back(entry.flag);
  }
  // Flags share their dashes and many syllables: less than this resembles anything.
  constexpr double kAlike = 0.75;
  const std::vector<std::string> near = CloseMatches(word, known, 1, kAlike);
  if (near.empty()) return std::nullopt;
  return near.front();
}

}  // namespace vernier
