#include "decide/figures/bootstrap.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace vernier {
namespace {

constexpr uint32_t ShiftMixed(uint32_t value) { return value ^ (value >> 16); }

// NumPy's SeedSequence(seed).generate_state(4, uint64).
std::array<uint64_t, 4> SpreadSeed(uint64_t seed) {
  uint32_t hash = 0x43b0d7e5;
  const auto mixed = [&hash](uint32_t value) {
    value ^= hash;
    hash *= 0x931e8875;
    return ShiftMixed(value * hash);
  };
  std::array<uint32_t, 4> pool = {mixed(static_cast<uint32_t>(seed)),
                                  mixed(static_cast<uint32_t>(seed >> 32)), mixed(0), mixed(0)};
  for (size_t source = 0; source < pool.size(); ++source) {
    for (size_t target = 0; target < pool.size(); ++target) {
      if (source == target) continue;
      pool[target] = ShiftMixed(0xca01f9dd * pool[target] - 0x4973f715 * mixed(pool[source]));
    }
  }
  std::array<uint64_t, 4> state = {};
  hash = 0x8b51f9dd;
  for (size_t i = 0; i < 2 * state.size(); ++i) {
    uint32_t word = pool[i % pool.size()] ^ hash;
    hash *= 0x58f38ded;
    word = ShiftMixed(word * hash);
    state[i / 2] |= uint64_t{word} << (32 * (i % 2));
  }
  return state;
}

__extension__ using Wide128 = unsigned __int128;

Wide128 Wide(uint64_t high, uint64_t low) { return (static_cast<Wide128>(high) << 64) | low; }

double QuantileOf(std::vector<double>& values, double share) {
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(place);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values.begin(), at, values.end());
  const double low = *at;
  if (below + 1 == values.size()) return low;
  const double high = *std::min_element(at + 1, values.end());
  return low + (high - low) * (place - static_cast<double>(below));
}

}  // namespace

std::pair<double, double> MiddleOfDraws(std::vector<double>& values) {
  const double low = QuantileOf(values, 0.025);
  return {low, QuantileOf(values, 0.975)};
}

Pcg64::Pcg64(uint64_t seed) {
  const std::array<uint64_t, 4> spread = SpreadSeed(seed);
  increment_ = (Wide(spread[2], spread[3]) << 1) | 1;
  Step();
  state_ += Wide(spread[0], spread[1]);
  Step();
}

void Pcg64::Step() {
  state_ = state_ * Wide(2549297995355413924ULL, 4865540595714422341ULL) + increment_;
}

uint64_t Pcg64::Next64() {
  Step();
  const auto high = static_cast<uint64_t>(state_ >> 64);
  const auto low = static_cast<uint64_t>(state_);
  return std::rotr(high ^ low, static_cast<int>(high >> 58));
}

uint32_t Pcg64::Next32() {
  if (has_kept_) {
    has_kept_ = false;
    return kept_;
  }
  const uint64_t both = Next64();
  kept_ = static_cast<uint32_t>(both >> 32);
  has_kept_ = true;
  return static_cast<uint32_t>(both);
}

// Lemire's method, as NumPy has it.
uint32_t Pcg64::Below(uint32_t bound) {
  uint64_t product = uint64_t{Next32()} * bound;
  if (static_cast<uint32_t>(product) < bound) {
    const uint32_t least = (0 - bound) % bound;
    while (static_cast<uint32_t>(product) < least) product = uint64_t{Next32()} * bound;
  }
  return static_cast<uint32_t>(product >> 32);
}

void Pcg64::FillBelow(uint32_t bound, std::span<uint32_t> values) {
  Pcg64 own = *this;  // in registers
  for (uint32_t& value : values) value = own.Below(bound);
  *this = own;
}

PairedMeans BootstrapMeans(std::span<const double> first, std::span<const double> second,
                           uint64_t seed, size_t draws) {
  const size_t n = first.size();
  if (n == 0 || draws == 0) {
    constexpr std::pair kNone(std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::quiet_NaN());
    return {kNone, kNone, kNone};
  }
  Pcg64 random(seed);
  std::vector<double> of_first(draws), of_second(draws), of_difference(draws);
  for (size_t draw = 0; draw < draws; ++draw) {
    double sum_first = 0, sum_second = 0;
    for (size_t i = 0; i < n; ++i) {
      const size_t sample = n == 1 ? 0 : random.Below(static_cast<uint32_t>(n));
      sum_first += first[sample];
      sum_second += second[sample];
    }
    of_first[draw] = sum_first / static_cast<double>(n);
    of_second[draw] = sum_second / static_cast<double>(n);
    of_difference[draw] = (sum_first - sum_second) / static_cast<double>(n);
  }
  return {MiddleOfDraws(of_first), MiddleOfDraws(of_second), MiddleOfDraws(of_difference)};
}

double ErrorColumns::Figure(double errors, double size) const {
  const double mean = errors / size;
  return is_root ? std::sqrt(mean) : mean;
}

PairedMeans BootstrapErrors(const ErrorColumns& columns, uint64_t seed, size_t draws) {
  const size_t n = columns.first.size();
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const PairedMeans none{{kNone, kNone}, {kNone, kNone}, {kNone, kNone}};
  if (n == 0) return none;
  Pcg64 random(seed);
  std::vector<double> of_first, of_second, of_difference;
  for (size_t draw = 0; draw < draws; ++draw) {
    double sum_first = 0, sum_second = 0, size = 0;
    for (size_t i = 0; i < n; ++i) {
      const size_t sample = n == 1 ? 0 : random.Below(static_cast<uint32_t>(n));
      sum_first += columns.first[sample];
      sum_second += columns.second[sample];
      size += columns.sizes.empty() ? 1 : columns.sizes[sample];
    }
    if (size == 0) continue;
    of_first.push_back(columns.Figure(sum_first, size));
    of_second.push_back(columns.Figure(sum_second, size));
    of_difference.push_back(of_first.back() - of_second.back());
  }
  if (of_first.empty()) return none;
  return {MiddleOfDraws(of_first), MiddleOfDraws(of_second), MiddleOfDraws(of_difference)};
}

}  // namespace vernier
