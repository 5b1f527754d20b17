// The kernels of decisions against plain loops.
#include "kernels/classes/class_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <random>
#include <vector>

namespace vernier {
namespace {

constexpr float kEndlessFloat = std::numeric_limits<float>::infinity();

// Few different values, so that most are there twice; NaN in one of `nan_each`, none where that is
// 0.
std::vector<float> TiedValues(size_t count, size_t nan_each, std::mt19937& random) {
  constexpr float kValues[] = {-kEndlessFloat, -2, -0.0F,        0, 1e-40F, 0.5F,
                               0.5000001F,     3,  kEndlessFloat};
  std::vector<float> values(count);
  for (float& value : values) {
    value = kValues[random() % std::size(kValues)];
    if (nan_each > 0 && random() % nan_each == 0) value = std::numeric_limits<float>::quiet_NaN();
  }
  return values;
}

LargestTwo PlainTwo(const float* row, size_t size, size_t stride) {
  LargestTwo top{row[0], -kEndlessFloat, 0, row[0] != row[0]};
  for (size_t i = 1; i < size; ++i) {
    const float value = row[i * stride];
    top.has_nan |= value != value;
    if (value > top.best) {
      top.second = top.best;
      top.best = value;
      top.place = i;
    } else if (value > top.second) {
      top.second = value;
    }
  }
  return top;
}

TEST(FindLargestTwo, IsThatOfAPlainLoop) {
  std::mt19937 random(1);
  for (size_t size = 1; size < 300; ++size) {
    for (const size_t nan_each : {size_t{0}, size_t{100}}) {
      const std::vector<float> row = TiedValues(size, nan_each, random);
      const LargestTwo plain = PlainTwo(row.data(), size, 1);
      const LargestTwo found = FindLargestTwo(row.data(), size);
      ASSERT_EQ(found.has_nan, plain.has_nan) << size;
      if (plain.has_nan) continue;
      EXPECT_EQ(found.best, plain.best) << size;
      EXPECT_EQ(found.second, plain.second) << size;
      EXPECT_EQ(found.place, plain.place) << size;
    }
  }
}

TEST(FindClasses, AreThoseOfPlainLoops) {
  std::mt19937 random(2);
  for (const size_t classes : {1, 2, 7, 8, 9, 70}) {
    for (const size_t count : {1, 3, 31, 32, 33, 200}) {
      const size_t stride = count + 5;
      const std::vector<float> values = TiedValues(classes * stride, 500, random);
      std::vector<float> best(count), second(count);
      std::vector<int32_t> place(count);
      const bool has_nan = FindClasses(values.data(), classes, stride, count,
                                       {best.data(), second.data(), place.data()});
      bool any_nan = false;
      for (size_t i = 0; i < count; ++i) {
        const LargestTwo plain = PlainTwo(values.data() + i, classes, stride);
        any_nan |= plain.has_nan;
        if (plain.has_nan) continue;
        EXPECT_EQ(best[i], plain.best) << classes << " " << i;
        EXPECT_EQ(second[i], plain.second) << classes << " " << i;
        EXPECT_EQ(static_cast<size_t>(place[i]), plain.place) << classes << " " << i;
      }
      EXPECT_EQ(has_nan, any_nan) << classes << " " << count;
    }
  }
}

BorderSide PlainSide(const std::vector<float>& values, float limit) {
  BorderSide side{kEndlessFloat, -kEndlessFloat, 0};
  for (const float value : values) {
    if (value >= limit) {
      side.above = std::min(side.above, value);
      ++side.not_below;
    } else if (value > side.below) {
      side.below = value;
    }
  }
  return side;
}

void ExpectSide(const BorderSide& found, const BorderSide& plain) {
  EXPECT_EQ(found.above, plain.above);
  EXPECT_EQ(found.below, plain.below);
  EXPECT_EQ(found.not_below, plain.not_below);
}

TEST(FindSides, AreThoseOfAPlainLoop) {
  std::mt19937 random(3);
  for (size_t count = 1; count < 150; ++count) {
    for (const size_t nan_each : {size_t{0}, size_t{40}}) {
      const std::vector<float> a = TiedValues(count, nan_each, random);
      std::vector<float> b = a;
      if (count % 3 == 0) b[random() % count] = 7;
      for (const float limit : {0.0F, 0.5F, kEndlessFloat}) {
        const float limit_b = count % 2 == 0 ? limit : limit - 0.25F;
        bool differs = false, has_nan = false;
        for (size_t i = 0; i < count; ++i) {
          differs |= (a[i] >= limit) != (b[i] >= limit_b);
          has_nan |= a[i] != a[i] || b[i] != b[i];
        }
        const BorderSides found = FindSides(a.data(), b.data(), count, limit, limit_b);
        EXPECT_EQ(found.differs, differs) << count;
        EXPECT_EQ(found.has_nan, has_nan) << count;
        ExpectSide(found.a, PlainSide(a, limit));
        ExpectSide(found.b, PlainSide(b, limit_b));
      }
    }
  }
}

}  // namespace
}  // namespace vernier
