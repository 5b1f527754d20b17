// The one pass against the same measures taken piece by piece, for every dtype; and the same bits
// for any number of threads and on every instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "hwy/targets.h"
#include "kernels/measures/pair_measures.h"
#include "kernels/measures/pair_parts.h"
#include "util/threads/thread_pool.h"

namespace vernier {
namespace {

enum class Content { kPlain, kSpecial, kEqual, kConstant, kAscending, kFewValues, kPeriodic };

constexpr Content kContents[] = {Content::kPlain,    Content::kSpecial,   Content::kEqual,
                                 Content::kConstant, Content::kAscending, Content::kFewValues,
                                 Content::kPeriodic};

double NumberFor(Content content, size_t i, size_t count, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  switch (content) {
    case Content::kAscending:
      return static_cast<double>(i) / static_cast<double>(count) * 100 - 50;
    case Content::kConstant:
      return 3;
    case Content::kFewValues:
      return std::max(0.0, std::floor(normal(random) * 2));
    case Content::kPeriodic:  // a sample at equal distances would see one value
      return i % 64 == 0 ? 1000 : static_cast<double>(i % 64);
    default:
      return normal(random) * 20;
  }
}

// The bytes of one array; integers wrap.
std::vector<std::byte> MakeBytes(DType dtype, Content content, size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes((count * static_cast<size_t>(BitsOf(dtype)) + 7) / 8);
  const auto put = [&bytes](size_t i, auto value) {
    std::memcpy(bytes.data() + i * sizeof(value), &value, sizeof(value));
  };
  for (size_t i = 0; i < count; ++i) {
    double x = NumberFor(content, i, count, random);
    const bool floating = Kind(dtype) == DTypeKind::kFloat;
    if (content == Content::kSpecial && floating && random() % 512 == 0) {
      const double specials[] = {std::numeric_limits<double>::infinity(),
                                 -0.0,
                                 -std::numeric_limits<double>::infinity(),
                                 0.0,
                                 1e-300,
                                 std::numeric_limits<double>::quiet_NaN()};
      x = specials[random() % std::size(specials)];
    }
    const auto whole = static_cast<int64_t>(std::isfinite(x) ? x : 0);
    switch (dtype) {
      case DType::kFloat32:
        put(i, static_cast<float>(x));
        break;
      case DType::kFloat64:
        put(i, x);
        break;
      case DType::kFloat16:  // from the pattern: nearly all of them, without too many NaN
        put(i,
            static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(x)) >> 16 & 0xfbff));
        break;
      case DType::kBFloat16:
        put(i, static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(x)) >> 16));
        break;
      case DType::kBool:
        put(i, static_cast<uint8_t>(whole % 2 != 0));
        break;
      default:
        if (BitsOf(dtype) == 4) {
          bytes[i / 2] |= static_cast<std::byte>((whole & 0xf) << (4 * (i % 2)));
        } else if (BitsOf(dtype) == 8) {
          put(i, static_cast<int8_t>(whole));
        } else if (BitsOf(dtype) == 16) {
          put(i, static_cast<int16_t>(whole * 100));
        } else if (BitsOf(dtype) == 32) {
          put(i, static_cast<int32_t>(whole * 1000000));
        } else {
          put(i, whole * 1000000000);
        }
    }
  }
  return bytes;
}

// B is A with every third element from elsewhere; `misalign` moves the data off its alignment.
struct Arrays {
  std::vector<std::byte> a_bytes;
  std::vector<std::byte> b_bytes;
  ElementSpan a;
  ElementSpan b;
};

Arrays MakeArrays(DType a_type, DType b_type, Content content, size_t count) {
  Arrays out;
  out.a_bytes = MakeBytes(a_type, content, count, 1);
  out.b_bytes = MakeBytes(b_type, content, count, a_type == b_type ? 2 : 3);
  const auto size = static_cast<size_t>(BitsOf(a_type)) / 8;
  if (a_type == b_type && size > 0) {
    for (size_t i = 0; i < count; ++i) {
      if (content != Content::kEqual && i % 3 == 0) continue;
      std::memcpy(&out.b_bytes[i * size], &out.a_bytes[i * size], size);
    }
  }
  const size_t misalign = count % 2;
  out.a_bytes.insert(out.a_bytes.begin(), misalign, std::byte{});
  out.b_bytes.insert(out.b_bytes.begin(), misalign, std::byte{});
  out.a = {a_type, std::span(out.a_bytes).subspan(misalign), static_cast<int64_t>(count)};
  out.b = {b_type, std::span(out.b_bytes).subspan(misalign), static_cast<int64_t>(count)};
  return out;
}

MeasureRequest EverythingUnder(const DifferenceRule& rule) {
  MeasureRequest request;
  request.rule = rule;
  request.differences = request.sides = StatisticsLevel::kRanks;
  request.difference_quantiles = {0.9, 0.95, 0.99, 0.37};
  request.side_quantiles = {0.0, 0.9, 0.95, 0.99, 1.0};
  request.products = request.ulp = true;
  request.worst = 5;
  return request;
}

uint64_t BitsOfDouble(double value) {
  return value != value ? ~uint64_t{0} : std::bit_cast<uint64_t>(value);
}

void ExpectExact(double x, double y, const char* what) {
  EXPECT_TRUE(x == y || (x != x && y != y)) << what << ": " << x << " and " << y;
}
void ExpectNear(double x, double y, double scale, const char* what) {
  if (x == y || (x != x && y != y)) return;
  EXPECT_LE(std::fabs(x - y), scale) << what << ": " << x << " and " << y;
}

void ExpectLike(const ValueStatistics& x, const ValueStatistics& y) {
  EXPECT_EQ(x.count, y.count);
  EXPECT_EQ(x.nan_count, y.nan_count);
  EXPECT_EQ(x.infinite_count, y.infinite_count);
  EXPECT_EQ(x.first_nan, y.first_nan);
  EXPECT_EQ(x.first_infinite, y.first_infinite);
  EXPECT_EQ(x.argmin, y.argmin);
  EXPECT_EQ(x.argmax, y.argmax);
  ExpectExact(x.min, y.min, "min");
  ExpectExact(x.max, y.max, "max");
  ExpectExact(x.median, y.median, "median");
  ASSERT_EQ(x.quantiles.size(), y.quantiles.size());
  for (size_t i = 0; i < x.quantiles.size(); ++i) {
    ExpectExact(x.quantiles[i], y.quantiles[i], "quantile");
  }
  ExpectNear(x.mean, y.mean, 1e-12 * y.average_magnitude, "mean");
  ExpectNear(x.average_magnitude, y.average_magnitude, 1e-12 * y.average_magnitude, "magnitude");
  ExpectNear(x.variance, y.variance, 1e-12 * (y.variance + y.mean * y.mean), "variance");
}

void ExpectLike(const PairMeasures& x, const PairMeasures& y) {
  const DifferenceSummary& d = x.difference;
  const DifferenceSummary& e = y.difference;
  EXPECT_EQ(d.mismatches, e.mismatches);
  EXPECT_EQ(d.first_mismatch, e.first_mismatch);
  EXPECT_EQ(d.zeros_in_b, e.zeros_in_b);
  EXPECT_EQ(d.absolute_dtype, e.absolute_dtype);
  EXPECT_EQ(d.relative_dtype, e.relative_dtype);
  ExpectExact(d.worst_ratio, e.worst_ratio, "worst_ratio");
  const std::pair<const ValueStatistics*, const ValueStatistics*> pairs[] = {
      {&x.a, &y.a}, {&x.b, &y.b}, {&d.absolute, &e.absolute}, {&d.relative, &e.relative}};
  const char* names[] = {"A", "B", "absolute", "relative"};
  for (size_t i = 0; i < 4; ++i) {
    SCOPED_TRACE(names[i]);
    ExpectLike(*pairs[i].first, *pairs[i].second);
  }
  const ProductSums& p = x.products;
  const ProductSums& q = y.products;
  ExpectNear(p.dot, q.dot, 1e-12 * std::sqrt(q.a_squared * q.b_squared), "dot");
  ExpectNear(p.a_squared, q.a_squared, 1e-12 * q.a_squared, "a_squared");
  ExpectNear(p.b_squared, q.b_squared, 1e-12 * q.b_squared, "b_squared");
  ExpectNear(p.difference_squared, q.difference_squared, 1e-12 * q.difference_squared, "squares");
  ExpectExact(p.a_max, q.a_max, "a_max");
  EXPECT_EQ(x.ulp.applies, y.ulp.applies);
  EXPECT_EQ(x.ulp.max, y.ulp.max);
  EXPECT_EQ(x.ulp.place_of_max, y.ulp.place_of_max);
  EXPECT_EQ(x.ulp.measured, y.ulp.measured);
  EXPECT_EQ(x.ulp.different, y.ulp.different);
  ASSERT_EQ(x.worst.size(), y.worst.size());
  for (size_t i = 0; i < x.worst.size(); ++i) {
    EXPECT_EQ(x.worst[i].place, y.worst[i].place);
    ExpectExact(x.worst[i].a, y.worst[i].a, "worst a");
    ExpectExact(x.worst[i].b, y.worst[i].b, "worst b");
    ExpectExact(x.worst[i].ratio, y.worst[i].ratio, "worst ratio");
  }
}

// All numbers as bits, in a fixed order.
std::vector<uint64_t> AllBits(const PairMeasures& m) {
  std::vector<uint64_t> bits;
  for (const ValueStatistics* s : {&m.a, &m.b, &m.difference.absolute, &m.difference.relative}) {
    for (const double value :
         {s->mean, s->variance, s->std_dev, s->median, s->min, s->max, s->average_magnitude}) {
      bits.push_back(BitsOfDouble(value));
    }
    for (const double value : s->quantiles) bits.push_back(BitsOfDouble(value));
    for (const int64_t value :
         {s->nan_count, s->infinite_count, s->argmin, s->argmax, s->first_nan, s->first_infinite}) {
      bits.push_back(static_cast<uint64_t>(value));
    }
  }
  for (const double value : {m.products.dot, m.products.a_squared, m.products.b_squared,
                             m.products.difference_squared, m.difference.worst_ratio}) {
    bits.push_back(BitsOfDouble(value));
  }
  bits.push_back(static_cast<uint64_t>(m.difference.mismatches));
  bits.push_back(static_cast<uint64_t>(m.difference.first_mismatch));
  bits.push_back(m.ulp.max);
  for (const WorstElement& element : m.worst) {
    bits.push_back(static_cast<uint64_t>(element.place));
  }
  return bits;
}

struct TypePair {
  DType a;
  DType b;
};

class PairScan : public testing::TestWithParam<TypePair> {};

const DifferenceRule kRules[] = {{1e-5, 1e-5, false}, {2, 0.25, false}, {0, 0, true}};

TEST_P(PairScan, AgreesWithItsParts) {
  for (const size_t count : {size_t{0}, size_t{1}, size_t{2}, size_t{1023}, size_t{1025},
                             size_t{4096}, size_t{5001}, size_t{66000}}) {
    for (const Content content : kContents) {
      const Arrays arrays = MakeArrays(GetParam().a, GetParam().b, content, count);
      for (const DifferenceRule& rule : kRules) {
        SCOPED_TRACE(testing::Message() << count << " elements, content "
                                        << static_cast<int>(content) << ", atol " << rule.atol);
        const MeasureRequest request = EverythingUnder(rule);
        const auto fast = MeasurePair(arrays.a, arrays.b, request);
        const auto slow = MeasurePairByParts(arrays.a, arrays.b, request);
        ASSERT_TRUE(fast.ok() && slow.ok());
        ExpectLike(*fast, *slow);
        const auto least = MeasurePair(arrays.a, arrays.b, {.rule = rule});
        EXPECT_EQ(least->difference.mismatches, slow->difference.mismatches);
        EXPECT_EQ(least->difference.first_mismatch, slow->difference.first_mismatch);
        EXPECT_EQ(least->difference.zeros_in_b, slow->difference.zeros_in_b);
        if (slow->difference.mismatches > 0) {
          ExpectExact(least->difference.worst_ratio, slow->difference.worst_ratio, "worst_ratio");
        } else {
          EXPECT_LE(least->difference.worst_ratio, 1);
        }
        if (HasFailure()) return;
      }
    }
  }
}

constexpr TypePair kTypePairs[] = {
    {DType::kFloat32, DType::kFloat32},
    {DType::kFloat64, DType::kFloat64},
    {DType::kFloat16, DType::kFloat16},
    {DType::kBFloat16, DType::kBFloat16},
    {DType::kFloat8E4M3FN, DType::kFloat8E4M3FN},
    {DType::kFloat8E4M3FNUZ, DType::kFloat8E4M3FNUZ},
    {DType::kFloat8E5M2, DType::kFloat8E5M2},
    {DType::kFloat8E5M2FNUZ, DType::kFloat8E5M2FNUZ},
    {DType::kFloat4E2M1, DType::kFloat4E2M1},
    {DType::kInt4, DType::kInt4},
    {DType::kUint4, DType::kUint4},
    {DType::kInt8, DType::kInt8},
    {DType::kUint8, DType::kUint8},
    {DType::kInt16, DType::kInt16},
    {DType::kUint16, DType::kUint16},
    {DType::kInt32, DType::kInt32},
    {DType::kUint32, DType::kUint32},
    {DType::kInt64, DType::kInt64},
    {DType::kUint64, DType::kUint64},
    {DType::kBool, DType::kBool},
    {DType::kFloat32, DType::kFloat16},
    {DType::kFloat32, DType::kFloat64},
    {DType::kFloat32, DType::kInt32},
    {DType::kInt8, DType::kFloat32},
    {DType::kBool, DType::kFloat32},
    {DType::kFloat32, DType::kBool},
    {DType::kBool, DType::kInt64},
    {DType::kInt64, DType::kUint64},
    {DType::kUint8, DType::kInt4},
};
INSTANTIATE_TEST_SUITE_P(DTypes, PairScan, testing::ValuesIn(kTypePairs), [](const auto& info) {
  return std::string(DTypeName(info.param.a)) + "_" + std::string(DTypeName(info.param.b));
});

// Large enough for samples, brackets and several threads.
constexpr size_t kMany = 700001;

class LargePairScan : public testing::TestWithParam<TypePair> {};

TEST_P(LargePairScan, AgreesWithItsPartsForAnyThreads) {
  for (const Content content : kContents) {
    SCOPED_TRACE(testing::Message() << "content " << static_cast<int>(content));
    const Arrays arrays = MakeArrays(GetParam().a, GetParam().b, content, kMany);
    const MeasureRequest request = EverythingUnder({1e-5, 1e-5, false});
    const PairMeasures alone = *MeasurePair(arrays.a, arrays.b, request);
    ExpectLike(alone, *MeasurePairByParts(arrays.a, arrays.b, request));
    for (const size_t threads : {1u, 2u, 7u}) {
      ThreadPool pool(threads);
      EXPECT_EQ(AllBits(*MeasurePair(arrays.a, arrays.b, request, &pool)), AllBits(alone))
          << threads << " threads";
    }
    if (HasFailure()) return;
  }
}

TEST_P(LargePairScan, HasTheSameBitsOnEveryInstructionSet) {
  for (const Content content : {Content::kPlain, Content::kFewValues, Content::kSpecial}) {
    const Arrays arrays = MakeArrays(GetParam().a, GetParam().b, content, kMany);
    const MeasureRequest request = EverythingUnder({1e-5, 1e-5, false});
    const std::vector<uint64_t> expected = AllBits(*MeasurePair(arrays.a, arrays.b, request));
    const int64_t all = hwy::SupportedTargets() & HWY_TARGETS;  // those compiled
    for (int64_t rest = all; rest != 0; rest &= rest - 1) {
      hwy::SetSupportedTargetsForTest(rest & -rest);
      hwy::GetChosenTarget().Update(hwy::SupportedTargets());
      EXPECT_EQ(AllBits(*MeasurePair(arrays.a, arrays.b, request)), expected)
          << hwy::TargetName(rest & -rest);
    }
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
}

constexpr TypePair kLargePairs[] = {
    {DType::kFloat32, DType::kFloat32},  {DType::kFloat64, DType::kFloat64},
    {DType::kBFloat16, DType::kFloat16}, {DType::kInt8, DType::kInt8},
    {DType::kInt32, DType::kInt32},      {DType::kInt4, DType::kInt4},
    {DType::kUint8, DType::kBool},       {DType::kFloat8E4M3FN, DType::kFloat8E5M2},
    {DType::kInt16, DType::kInt16}};
INSTANTIATE_TEST_SUITE_P(DTypes, LargePairScan, testing::ValuesIn(kLargePairs),
                         [](const auto& info) {
                           return std::string(DTypeName(info.param.a)) + "_" +
                                  std::string(DTypeName(info.param.b));
                         });

ElementSpan Doubles(const std::vector<double>& values) {
  return {DType::kFloat64, std::as_bytes(std::span(values)), static_cast<int64_t>(values.size())};
}

TEST(MeasureValues, KnowsTheSpreadOfHugeAndTinyNumbers) {
  const std::vector<double> huge = {1e300, -1e300, 1e300, -1e300};
  const ValueStatistics h = MeasureValues(Doubles(huge), StatisticsLevel::kMoments, {});
  EXPECT_DOUBLE_EQ(h.std_dev, 1e300);
  EXPECT_EQ(h.variance, std::numeric_limits<double>::infinity());
  EXPECT_EQ(h.mean, 0);
  const std::vector<double> largest = {1.5e308, 1.6e308};
  const ValueStatistics l = MeasureValues(Doubles(largest), StatisticsLevel::kMoments, {});
  EXPECT_DOUBLE_EQ(l.mean, 1.55e308);
  EXPECT_NEAR(l.std_dev / 0.05e308, 1, 1e-12);
  const std::vector<double> tiny = {1e-200, 3e-200};
  EXPECT_DOUBLE_EQ(MeasureValues(Doubles(tiny), StatisticsLevel::kMoments, {}).std_dev, 1e-200);
}

TEST(MeasureValues, KeepsDigitsBesideALargeMean) {
  std::vector<float> values(100000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = i % 2 == 0 ? 1e7f : 1e7f + 1;
  const ElementSpan span{DType::kFloat32, std::as_bytes(std::span(values)), 100000};
  const ValueStatistics s = MeasureValues(span, StatisticsLevel::kMoments, {});
  EXPECT_EQ(s.mean, 1e7 + 0.5);
  EXPECT_NEAR(s.variance, 0.25, 1e-13);
}

TEST(MeasurePair, KeepsLargeIntegersExact) {
  const std::vector<int64_t> a = {(int64_t{1} << 60) + 1, 5}, b = {int64_t{1} << 60, 5};
  const ElementSpan x{DType::kInt64, std::as_bytes(std::span(a)), 2};
  const ElementSpan y{DType::kInt64, std::as_bytes(std::span(b)), 2};
  const PairMeasures m = *MeasurePair(x, y, {.rule = {}, .differences = StatisticsLevel::kRanks});
  EXPECT_EQ(m.difference.mismatches, 1);
  EXPECT_EQ(m.difference.absolute.max, 1);
}

// Pages that were not written to cost no memory.
TEST(MeasurePair, CountsBeyondTwoBillionElements) {
  constexpr size_t kElements = (size_t{1} << 31) + 1000;
  constexpr size_t kPlace = (size_t{1} << 31) + 7;
  const auto zeros = [] {
    return std::unique_ptr<void, decltype(&std::free)>(std::calloc(kElements, 2), &std::free);
  };
  const auto a = zeros();
  const auto b = zeros();
  ASSERT_TRUE(a != nullptr && b != nullptr);
  static_cast<uint16_t*>(a.get())[kPlace] = 0x3c00;  // 1 as float16
  const auto span = [](void* data) {
    return ElementSpan{DType::kFloat16,
                       {static_cast<const std::byte*>(data), kElements * 2},
                       static_cast<int64_t>(kElements)};
  };
  ThreadPool pool;
  const PairMeasures m =
      *MeasurePair(span(a.get()), span(b.get()), {.rule = {1e-5, 1e-5, false}}, &pool);
  EXPECT_EQ(m.difference.count, static_cast<int64_t>(kElements));
  EXPECT_EQ(m.difference.mismatches, 1);
  EXPECT_EQ(m.difference.first_mismatch, static_cast<int64_t>(kPlace));
  EXPECT_EQ(m.difference.zeros_in_b, static_cast<int64_t>(kElements));
}

}  // namespace
}  // namespace vernier
