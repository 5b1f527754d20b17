#include "util/text/close_matches.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "util/text/number_text.h"
#include "util/text/quoted.h"
#include "util/values/joined.h"
#include "util/values/list_has.h"

namespace vernier {
namespace {

struct Block {
  size_t a = 0, b = 0, size = 0;
};

// The longest common substring; of equal ones the first in `a`, then in `b`.
Block LongestMatch(std::string_view a, std::string_view b) {
  Block best;
  std::vector<size_t> row(b.size() + 1, 0);  // row[j + 1]: length of the match that ends at b[j]
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = 0;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t length = a[i] == b[j] ? diagonal + 1 : 0;
      diagonal = std::exchange(row[j + 1], length);
      if (length > best.size) best = {i + 1 - length, j + 1 - length, length};
    }
  }
  return best;
}

size_t MatchedCharacters(std::string_view a, std::string_view b) {
  const Block block = LongestMatch(a, b);
  if (block.size == 0) return 0;
  return block.size + MatchedCharacters(a.substr(0, block.a), b.substr(0, block.b)) +
         MatchedCharacters(a.substr(block.a + block.size), b.substr(block.b + block.size));
}

}  // namespace

std::vector<std::string> CloseMatches(std::string_view word,
                                      std::span<const std::string_view> candidates, size_t limit,
                                      double cutoff) {
  std::vector<std::pair<double, std::string_view>> scored;
  for (const std::string_view candidate : candidates) {
    const size_t total = candidate.size() + word.size();
    const auto matched = static_cast<double>(MatchedCharacters(candidate, word));
    const double ratio = total == 0 ? 1.0 : 2.0 * matched / static_cast<double>(total);
    if (ratio >= cutoff) scored.emplace_back(ratio, candidate);
  }
  std::sort(scored.begin(), scored.end(), std::greater<>());
  if (scored.size() > limit) scored.resize(limit);
  std::vector<std::string> matches;
  for (const auto& [ratio, candidate] : scored) matches.emplace_back(candidate);
  return matches;
}

std::string NearestName(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr size_t kEnoughLetters = 3;
  const std::string lower = ToLower(word);
  std::vector<std::string> folded;
  folded.reserve(candidates.size());
  for (const std::string_view candidate : candidates) folded.push_back(ToLower(candidate));
  auto at = std::find(folded.begin(), folded.end(), lower);
  if (at == folded.end() && lower.size() >= kEnoughLetters) {
    at = std::find_if(folded.begin(), folded.end(),
                      [&](const std::string& name) { return name.starts_with(lower); });
  }
  if (at == folded.end()) {
    const std::vector<std::string_view> views(folded.begin(), folded.end());
    const std::vector<std::string> near = CloseMatches(lower, views, 1);
    if (near.empty()) return "";
    at = std::find(folded.begin(), folded.end(), near.front());
  }
  return std::string(candidates[static_cast<size_t>(at - folded.begin())]);
}

std::string DidYouMean(std::string_view near) {
  return near.empty() ? "" : "; did you mean " + Quoted(near) + "?";
}

std::string DidYouMean(std::span<const std::string> near) {
  std::string quoted;
  for (const std::string& name : near) quoted += (quoted.empty() ? "" : " or ") + Quoted(name);
  return near.empty() ? "" : "; did you mean " + quoted + "?";
}

std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr size_t kEnough = 40;
  return DidYouMean(NearestName(word.substr(0, kEnough), candidates));
}

Status CheckNames(std::span<const std::string> words, const KnownNames& known) {
  for (const std::string& word : words) {
    if (ListHas(known.names, word)) continue;
    const std::string hint = DidYouMean(word, known.names);
    return InvalidArgument(
        std::string(known.flag) + ": " + Quoted(word) + " is not " + std::string(known.one) +
        (hint.empty() ? "; the " + std::string(known.plural) + " are: " + Joined(known.names)
                      : hint));
  }
  return {};
}

}  // namespace vernier
