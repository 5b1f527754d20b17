#include "gpu/rank_walk.h"

#include <algorithm>
#include <iterator>

namespace vernier::gpu {

std::vector<Digit> DigitsOf(unsigned key_bits) {
  std::vector<Digit> digits;
  unsigned left = key_bits;
  const auto take = [&](unsigned bits) {
    left -= bits;
    digits.push_back({left, bits});
  };
  take(std::min(kFirstDigitBits, key_bits));
  for (unsigned rounds = (left + kDigitBits - 1) / kDigitBits; rounds > 0; --rounds) {
    take((left + rounds - 1) / rounds);
  }
  return digits;
}

RankWalk::RankWalk(std::vector<int64_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  for (const int64_t rank : ranks) wanted_.push_back({rank, 0, static_cast<uint64_t>(rank), 0});
}

// Prefixes rise with the ranks, so equal ones are neighbours.
std::vector<uint64_t> RankWalk::Prefixes() const {
  std::vector<uint64_t> prefixes;
  for (const Wanted& wanted : wanted_) {
    if (prefixes.empty() || prefixes.back() != wanted.prefix) prefixes.push_back(wanted.prefix);
  }
  return prefixes;
}

void RankWalk::Descend(Digit digit, std::span<const uint64_t> counts) {
  const size_t radix = size_t{1} << digit.bits;
  const std::vector<uint64_t> prefixes = Prefixes();
  for (Wanted& wanted : wanted_) {
    const auto bucket = static_cast<size_t>(
        std::lower_bound(prefixes.begin(), prefixes.end(), wanted.prefix) - prefixes.begin());
    const std::span<const uint64_t> row = counts.subspan(bucket * radix, radix);
    size_t value = 0;
    while (value + 1 < radix && wanted.below >= row[value]) wanted.below -= row[value++];
    wanted.prefix = wanted.prefix << digit.bits | value;
    wanted.population = row[value];
  }
}

uint64_t RankWalk::candidates() const {
  uint64_t sum = 0;
  for (size_t i = 0; i < wanted_.size(); ++i) {
    if (i == 0 || wanted_[i].prefix != wanted_[i - 1].prefix) sum += wanted_[i].population;
  }
  return sum;
}

void RankWalk::Finish(std::span<const uint64_t> keys, unsigned below) {
  std::vector<uint64_t> own;
  uint64_t prefix = 0;
  for (Wanted& wanted : wanted_) {
    if (own.empty() || wanted.prefix != prefix) {
      prefix = wanted.prefix;
      own.clear();
      std::copy_if(keys.begin(), keys.end(), std::back_inserter(own),
                   [&](uint64_t key) { return key >> below == prefix; });
    }
    if (own.empty()) continue;
    const size_t place = std::min<size_t>(wanted.below, own.size() - 1);
    std::nth_element(own.begin(), own.begin() + static_cast<ptrdiff_t>(place), own.end());
    wanted.prefix = own[place];
  }
}

uint64_t RankWalk::KeyOf(int64_t rank) const {
  const auto found =
      std::lower_bound(wanted_.begin(), wanted_.end(), rank,
                       [](const Wanted& wanted, int64_t value) { return wanted.rank < value; });
  return found != wanted_.end() ? found->prefix : 0;
}

}  // namespace vernier::gpu
