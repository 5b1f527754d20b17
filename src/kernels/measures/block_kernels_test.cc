// Each kernel against its scalar twin, on every instruction set that this machine has.
#include "kernels/measures/block_kernels.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "hwy/targets.h"
#include "kernels/elements/twister_words.h"

namespace vernier {
namespace {

template <typename Function>
void ForEachTarget(Function function) {
  const int64_t all = hwy::SupportedTargets() & HWY_TARGETS;  // those compiled
  for (int64_t rest = all; rest != 0; rest &= rest - 1) {
    const int64_t target = rest & -rest;
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    function();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

// Numbers of every kind: ordinary ones, ties, zeros of both signs, denormals, the largest; with
// `specials` infinities and NaN too.
template <typename T>
std::vector<T> MixedNumbers(size_t count, unsigned seed, bool specials) {
  using Limits = std::numeric_limits<T>;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<T> values(count);
  for (T& value : values) {
    const T rare[] = {T{0}, -T{0},  Limits::denorm_min(), -Limits::min(),
                      T{1}, T{1.5}, static_cast<T>(1e-5), static_cast<T>(1e30)};
    const T special[] = {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(),
                         -Limits::quiet_NaN()};
    const uint64_t dice = random() % 64;
    value = static_cast<T>(normal(random));
    if (dice < 16) value = rare[random() % std::size(rare)];
    if (specials && dice == 63) value = special[random() % std::size(special)];
  }
  return values;
}

constexpr size_t kLengths[] = {0,  1,  2,  3,   7,   8,    15,   16,  17,
                               31, 33, 64, 100, 255, 1000, 1023, 1024};

template <typename T>
uint64_t Bits(T value) {
  if constexpr (sizeof(T) == 4) return std::bit_cast<uint32_t>(static_cast<float>(value));
  return std::bit_cast<uint64_t>(static_cast<double>(value));
}

// NaN is NaN, whatever its sign; all else to the bit.
template <typename T>
void ExpectSame(T x, T y, const char* what) {
  if (x != x && y != y) return;
  EXPECT_EQ(Bits(x), Bits(y)) << what << ": " << x << " and " << y;
}

template <typename T>
class BlockKernelsTest : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(BlockKernelsTest, Reals);

// Calls the function with every length, with and without special values, from unaligned places.
template <typename T, typename Function>
void ForEachPair(Function function) {
  ForEachTarget([&] {
    for (const size_t count : kLengths) {
      for (const bool specials : {false, true}) {
        SCOPED_TRACE(testing::Message() << count << " elements, specials " << specials);
        const size_t offset = count % 3;
        const auto seed = static_cast<unsigned>(count);
        const std::vector<T> a = MixedNumbers<T>(count + offset, seed, specials);
        std::vector<T> b = MixedNumbers<T>(count + offset, seed + 1, specials);
        for (size_t i = 0; i < b.size(); i += 2) b[i] = a[i];
        function(BlockPair<T>{a.data() + offset, b.data() + offset, count}, specials);
      }
    }
  });
}

TYPED_TEST(BlockKernelsTest, Differences) {
  using T = TypeParam;
  ForEachPair<T>([](const BlockPair<T>& pair, bool) {
    for (const ZeroRule zeros : {ZeroRule::kDivide, ZeroRule::kReplace}) {
      std::vector<T> x(pair.count), y(pair.count), u(pair.count), v(pair.count);
      const auto vector = VectorKernels<T>().difference(pair, zeros, x.data(), y.data());
      const auto scalar = ScalarKernels<T>().difference(pair, zeros, u.data(), v.data());
      EXPECT_EQ(vector.zeros_in_b, scalar.zeros_in_b);
      EXPECT_EQ(vector.same, scalar.same);
      for (size_t i = 0; i < pair.count; ++i) {
        ExpectSame(x[i], u[i], "absolute");
        ExpectSame(y[i], v[i], "relative");
      }
    }
    const BlockPair<T> itself{pair.a, pair.a, pair.count};
    std::vector<T> x(pair.count), y(pair.count);
    EXPECT_EQ(VectorKernels<T>().difference(itself, ZeroRule::kReplace, x.data(), y.data()).same,
              ScalarKernels<T>().difference(itself, ZeroRule::kReplace, x.data(), y.data()).same);
  });
}

TYPED_TEST(BlockKernelsTest, Verdicts) {
  using T = TypeParam;
  // On a boundary: float32(1e-5) lies below the float64 tolerance, 1 is equal to it.
  const double tolerances[] = {0,
                               1e-5,
                               1,
                               static_cast<double>(static_cast<T>(1e-5)),
                               0.1,
                               -1,
                               std::numeric_limits<double>::infinity(),
                               1e300,
                               std::numeric_limits<double>::quiet_NaN()};
  ForEachPair<T>([&](const BlockPair<T>& pair, bool) {
    std::vector<T> absolute(pair.count), relative(pair.count);
    ScalarKernels<T>().difference(pair, ZeroRule::kReplace, absolute.data(), relative.data());
    const BlockPair<T> differences{absolute.data(), relative.data(), pair.count};
    for (const double tolerance : tolerances) {
      const DifferenceRule rule{.atol = tolerance, .rtol = tolerance / 2};
      const auto bounds = MakeOutsideBounds<T>(rule);
      const auto vector = VectorKernels<T>().verdict(pair, bounds.absolute);
      const auto scalar = ScalarKernels<T>().verdict(pair, bounds.absolute);
      EXPECT_EQ(vector.zeros_in_b, scalar.zeros_in_b);
      EXPECT_EQ(vector.may_be_outside, scalar.may_be_outside);
      ExpectSame(vector.max_absolute, scalar.max_absolute, "max_absolute");
      EXPECT_EQ(VectorKernels<T>().count_outside(differences, bounds),
                ScalarKernels<T>().count_outside(differences, bounds));
      ExpectSame(VectorKernels<T>().worst_ratio(differences, rule),
                 ScalarKernels<T>().worst_ratio(differences, rule), "worst_ratio");
    }
  });
}

TYPED_TEST(BlockKernelsTest, Moments) {
  using T = TypeParam;
  ForEachPair<T>([](const BlockPair<T>& pair, bool specials) {
    std::vector<T> magnitudes(pair.a, pair.a + pair.count);
    for (T& value : magnitudes) value = std::abs(value);
    for (const double shift : {0.0, 0.25}) {
      const auto v = VectorKernels<T>().moments(pair.a, pair.count, shift);
      const auto s = ScalarKernels<T>().moments(pair.a, pair.count, shift);
      ExpectSame(v.sum, s.sum, "sum");
      ExpectSame(v.magnitude_sum, s.magnitude_sum, "magnitude_sum");
      ExpectSame(v.shifted_squares, s.shifted_squares, "shifted_squares");
      const auto m = VectorKernels<T>().magnitude_moments(magnitudes.data(), pair.count, shift);
      const auto n = ScalarKernels<T>().magnitude_moments(magnitudes.data(), pair.count, shift);
      ExpectSame(m.sum, n.sum, "sum of magnitudes");
      ExpectSame(m.magnitude_sum, n.magnitude_sum, "sum of magnitudes");
      ExpectSame(m.shifted_squares, n.shifted_squares, "their squares");
      if (specials) continue;
      EXPECT_EQ(v.min, s.min);  // the sign of a zero is open
      EXPECT_EQ(v.max, s.max);
      EXPECT_EQ(m.min, n.min);
      EXPECT_EQ(m.max, n.max);
    }
    const auto v = VectorKernels<T>().specials(pair.a, pair.count);
    const auto s = ScalarKernels<T>().specials(pair.a, pair.count);
    EXPECT_EQ(v.nan_count, s.nan_count);
    EXPECT_EQ(v.infinite_count, s.infinite_count);
    EXPECT_EQ(v.min, s.min);
    EXPECT_EQ(v.max, s.max);
    const auto x = VectorKernels<T>().products(pair);
    const auto y = ScalarKernels<T>().products(pair);
    ExpectSame(x.dot, y.dot, "dot");
    ExpectSame(x.a_squared, y.a_squared, "a_squared");
    ExpectSame(x.b_squared, y.b_squared, "b_squared");
    ExpectSame(x.difference_squared, y.difference_squared, "difference_squared");
  });
}

TYPED_TEST(BlockKernelsTest, Ranks) {
  using T = TypeParam;
  using Key = RankKey<T>;
  const auto key = [](double value) { return KeyOf(static_cast<T>(value)); };
  Brackets<Key> brackets;
  const std::pair<double, double> ends[] = {{-0.5, -0.0}, {-0.0, 0.25}, {1, 1.5}, {-10, 1e29}};
  for (const auto& [low, high] : ends) {
    brackets.low[brackets.count] = key(low);
    brackets.high[brackets.count++] = key(high);
  }
  ForEachPair<T>([&](const BlockPair<T>& pair, bool specials) {
    if (specials) return;
    for (size_t count = 0; count <= kMostBrackets; ++count) {
      brackets.count = count;
      std::vector<T> x(kBlockSize + kHitPadding), y(kBlockSize + kHitPadding);
      BracketHits<T> vector{.values = x.data()};
      BracketHits<T> scalar{.values = y.data()};
      VectorKernels<T>().rank(pair.a, pair.count, brackets, vector);
      ScalarKernels<T>().rank(pair.a, pair.count, brackets, scalar);
      EXPECT_EQ(vector.used, scalar.used);
      EXPECT_EQ(0, std::memcmp(x.data(), y.data(), scalar.used * sizeof(T)));
      for (size_t i = 0; i < kMostBrackets; ++i) {
        EXPECT_EQ(vector.above_low[i], scalar.above_low[i]);
      }
    }
  });
}

TYPED_TEST(BlockKernelsTest, CountsBelowThresholds) {
  using T = TypeParam;
  const double values[] = {-1.0, -0.0, 0.0, 1.0};
  ForEachPair<T>([&](const BlockPair<T>& pair, bool) {
    Thresholds<RankKey<T>> thresholds;
    for (size_t count = 0; count <= kMostThresholds; ++count) {
      thresholds.count = count;
      int64_t x[kMostThresholds] = {1, 2, 3, 4};  // what was counted before
      int64_t y[kMostThresholds] = {1, 2, 3, 4};
      VectorKernels<T>().count_below(pair.a, pair.count, thresholds, x);
      ScalarKernels<T>().count_below(pair.a, pair.count, thresholds, y);
      for (size_t i = 0; i < kMostThresholds; ++i) EXPECT_EQ(x[i], y[i]);
      if (count < kMostThresholds) thresholds.keys[count] = KeyOf(static_cast<T>(values[count]));
    }
  });
}

TEST(TwisterWords, AreThoseOfTheStandardLibrary) {
  ForEachTarget([] {
    std::mt19937 expected(5489);
    std::array<uint32_t, kTwisterWords> state;
    state[0] = 5489;
    for (uint32_t i = 1; i < kTwisterWords; ++i) {
      state[i] = 1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + i;
    }
    for (int round = 0; round < 3; ++round) {
      TwistWords(state);
      std::array<double, kTwisterWords / 2> doubles;
      DoublesOfWords(state.data(), doubles);
      for (size_t i = 0; i < doubles.size(); ++i) {
        const auto upper = static_cast<uint32_t>(expected());
        const auto lower = static_cast<uint32_t>(expected());
        EXPECT_EQ(TemperedWord(state[2 * i]), upper);
        EXPECT_EQ(TemperedWord(state[2 * i + 1]), lower);
        EXPECT_EQ(doubles[i], DoubleOf(upper, lower)) << i;
      }
    }
  });
}

TEST(TwisterWords, MakeAnyNumberOfDoubles) {
  std::array<uint32_t, 2 * 40> words;
  std::mt19937 random(1);
  for (uint32_t& word : words) word = static_cast<uint32_t>(random());
  ForEachTarget([&] {
    for (size_t count = 0; count <= 40; ++count) {
      std::vector<double> doubles(count + 1, -1);
      DoublesOfWords(words.data(), std::span(doubles).first(count));
      for (size_t i = 0; i < count; ++i) {
        EXPECT_EQ(doubles[i], DoubleOf(TemperedWord(words[2 * i]), TemperedWord(words[2 * i + 1])));
      }
      EXPECT_EQ(doubles[count], -1) << "written beyond the end";
    }
  });
}

TEST(StorageKernels, LoadEveryType) {
  std::mt19937_64 random(1);
  std::vector<std::byte> bytes(8 * kBlockSize + 1);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  // Every pattern of 8 bits, and all of 16 in four parts.
  ForEachTarget([&] {
    for (size_t dtype = 0; dtype < kDTypeCount; ++dtype) {
      const auto to_float = VectorStorageKernels().to_float[dtype];
      ASSERT_EQ(to_float == nullptr, ScalarStorageKernels().to_float[dtype] == nullptr);
      if (to_float == nullptr) continue;
      SCOPED_TRACE(DTypeName(static_cast<DType>(dtype)));
      for (unsigned part = 0; part < 64; ++part) {
        for (size_t i = 0; i < kBlockSize; ++i) {
          const auto pattern = static_cast<uint16_t>(part * kBlockSize + i);
          if (BitsOf(static_cast<DType>(dtype)) == 16) std::memcpy(&bytes[1 + 2 * i], &pattern, 2);
          if (BitsOf(static_cast<DType>(dtype)) == 8) bytes[1 + i] = static_cast<std::byte>(i);
        }
        const size_t count = kBlockSize - part;
        std::vector<float> x(count), y(count);
        to_float(bytes.data() + 1, count, x.data());
        ScalarStorageKernels().to_float[dtype](bytes.data() + 1, count, y.data());
        std::vector<double> u(count), v(count);
        VectorStorageKernels().to_double[dtype](bytes.data() + 1, count, u.data());
        ScalarStorageKernels().to_double[dtype](bytes.data() + 1, count, v.data());
        for (size_t i = 0; i < count; ++i) {
          ExpectSame(x[i], y[i], "float");
          ExpectSame(u[i], v[i], "double");
        }
      }
    }
  });
}

TEST(StorageKernels, MeasureUnitsInTheLastPlace) {
  std::mt19937_64 random(1);
  const uint64_t infinities[] = {0x7e, 0x7c00, 0x7f800000, 0x7ff0000000000000};
  ForEachTarget([&] {
    for (size_t width = 0; width < 4; ++width) {
      for (const size_t count : kLengths) {
        std::vector<std::byte> a((count << width) + 1), b(a.size());
        for (std::byte& byte : a) byte = static_cast<std::byte>(random());
        for (size_t i = 0; i < b.size(); ++i) {
          b[i] = random() % 4 == 0 ? static_cast<std::byte>(random()) : a[i];
        }
        const RawPair pair{a.data() + 1, b.data() + 1, count};
        const BlockUlps x = VectorStorageKernels().ulps[width](pair, infinities[width]);
        const BlockUlps y = ScalarStorageKernels().ulps[width](pair, infinities[width]);
        EXPECT_EQ(x.max, y.max);
        EXPECT_EQ(x.measured, y.measured);
        EXPECT_EQ(x.different, y.different);
      }
    }
  });
}

}  // namespace
}  // namespace vernier
