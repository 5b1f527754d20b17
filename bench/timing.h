// What the programs of the bench share: the best time of several rounds, and reading memory.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace vernier {

template <typename Function>
double BestSeconds(int rounds, Function&& function) {
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    function();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count());
  }
  return best;
}

/// Independent sums, so that the loads and not the additions are the limit.
inline uint64_t SumWords(const uint64_t* words, size_t count) {
  constexpr size_t kSums = 16;
  uint64_t sums[kSums] = {};
  for (size_t i = 0; i + kSums <= count; i += kSums) {
    for (size_t lane = 0; lane < kSums; ++lane) sums[lane] += words[i + lane];
  }
  uint64_t total = 0;
  for (const uint64_t sum : sums) total += sum;
  return total;
}

}  // namespace vernier
