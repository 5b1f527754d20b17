// Internal to decide.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace vernier {

/// Insertions, deletions and substitutions (Levenshtein). Takes time in proportion to the product
/// of the lengths of what lies between a common beginning and end.
template <typename Symbol>
size_t EditDistance(std::span<const Symbol> a, std::span<const Symbol> b) {
  while (!a.empty() && !b.empty() && a.front() == b.front()) a = a.subspan(1), b = b.subspan(1);
  while (!a.empty() && !b.empty() && a.back() == b.back()) {
    a = a.first(a.size() - 1);
    b = b.first(b.size() - 1);
  }
  std::vector<size_t> distance(b.size() + 1);
  std::iota(distance.begin(), distance.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = distance[0]++;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = distance[j + 1];
      distance[j + 1] = std::min({replaced, diagonal + 1, distance[j] + 1});
    }
  }
  return distance.back();
}

}  // namespace vernier
