#include "cli/flag_suggestion.h"

#include <algorithm>
#include <vector>

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

size_t EditDistance(std::string_view a, std::string_view b) {
  // Three rows suffice: a swap looks two rows back.
  std::vector<size_t> older(b.size() + 1), previous(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({previous[j] + 1, row[j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], older[j - 2] + 1);
    }
    std::swap(older, previous);
    std::swap(previous, row);
  }
  return previous[b.size()];
}

std::optional<std::string> SuggestFlag(const OptionTable& table, std::string_view word) {
  word = word.substr(0, word.find('='));
  constexpr size_t kLongestFlag = 64;  // the distance takes quadratic time
  if (word.size() < 4 || word.size() > kLongestFlag || word.front() != '-') return std::nullopt;
  for (const RemovedFlag& removed : kRemoved) {
    if (word == removed.flag) return std::string(removed.replacement);
  }
  std::string_view nearest;
  size_t least = std::max<size_t>(1, word.size() / 4) + 1;
  for (const FlagEntry& entry : table.flags()) {
    if (!entry.flag.starts_with("--")) continue;
    const size_t distance = EditDistance(word, entry.flag);
    if (distance < least) {
      least = distance;
      nearest = entry.flag;
    }
  }
  if (nearest.empty()) return std::nullopt;
  return std::string(nearest);
}

}  // namespace vernier
