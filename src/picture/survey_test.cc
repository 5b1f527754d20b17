#include "picture/survey.h"
#include "core/test_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace vernier {
namespace {

struct Pair {
  Dims dims;
  std::vector<float> a;
  std::vector<float> b;

  explicit Pair(Dims d) : dims(std::move(d)) {
    size_t count = 1;
    for (const int64_t dim : dims) count *= static_cast<size_t>(dim);
    a.assign(count, 2);
    b.assign(count, 2);
  }
  static ElementSpan Span(const std::vector<float>& values) {
    return {DType::kFloat32, std::as_bytes(std::span(values)), static_cast<int64_t>(values.size())};
  }
  ErrorSource source() const { return {Span(a), Span(b), {1e-5, 1e-5, false}}; }
};

TEST(SurveyErrors, CountsKindsOfErrors) {
  Pair pair({2, 3, 4});
  pair.a[1] = kNan;
  pair.b[2] = kInfinity;
  pair.a[5] = 2.5;
  pair.a[7] = 3;
  const auto survey = SurveyErrors(pair.source(), SliceLayout(pair.dims));
  ASSERT_TRUE(survey.ok());
  EXPECT_EQ(survey->absolute.nan_count, 1);
  EXPECT_EQ(survey->absolute.infinite_count, 1);
  EXPECT_EQ(survey->absolute.zero_count, 20);
  EXPECT_EQ(survey->absolute.largest, 1);
  EXPECT_EQ(survey->absolute.smallest_positive, 0.5);
  EXPECT_TRUE(std::isnan(survey->absolute.worst));
  EXPECT_EQ(survey->absolute.worst_at, 1);
  EXPECT_EQ(survey->relative.largest, 0.5);
  EXPECT_EQ(survey->relative.nan_count, 2);  // infinity / infinity
  EXPECT_EQ(survey->largest_magnitude, 2);
}

TEST(SurveyErrors, KnowsTheWorstOfEachPage) {
  Pair pair({1, 120, 8, 8});  // 98 slices a page
  pair.a[3] = 3;
  pair.a[98 * 64] = 4;
  const auto survey = SurveyErrors(pair.source(), SliceLayout(pair.dims));
  ASSERT_TRUE(survey.ok());
  EXPECT_EQ(survey->absolute.page_worst, (std::vector<double>{1, 2}));
  EXPECT_EQ(survey->absolute.worst_at, 98 * 64);
}

TEST(WorseError, PutsSeverityBeforeSize) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(WorseError(kNone, kEndless)));
  EXPECT_TRUE(std::isnan(WorseError(0, kNone)));
  EXPECT_EQ(WorseError(kEndless, 1e300), kEndless);
  EXPECT_EQ(WorseError(1, 2), 2);
}

TEST(WorstPages, AreTheWorstInTheirOrder) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(WorstPages({5, 1, nan, 9, 2}, 3), (std::vector<int64_t>{0, 2, 3}));
  EXPECT_EQ(WorstPages({5, 1}, 8), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(WorstPages({1, 1, 1}, 2), (std::vector<int64_t>{0, 1}));
}

TEST(PooledSlice, KeepsASingleBadElement) {
  // The bad element in every corner of steps that do not divide the size.
  constexpr int64_t kRows = 1003, kColumns = 777;
  for (const int64_t bad : {int64_t{0}, kColumns - 1, kColumns, 501 * kColumns + 333,
                            (kRows - 1) * kColumns, kRows * kColumns - 1}) {
    PooledSlice slice(kRows, kColumns, 10, 7);
    std::vector<double> errors(kRows * kColumns, 1e-6);
    errors[static_cast<size_t>(bad)] = 0.5;
    // In pieces that end in the middle of rows.
    for (size_t start = 0; start < errors.size(); start += 1024) {
      const size_t n = std::min<size_t>(1024, errors.size() - start);
      slice.Add(static_cast<int64_t>(start), std::span(errors).subspan(start, n));
    }
    int hot = 0;
    for (int y = 0; y < slice.height(); ++y) {
      for (int x = 0; x < slice.width(); ++x) {
        ASSERT_GE(slice.At(x, y), 1e-6);
        hot += slice.At(x, y) == 0.5 ? 1 : 0;
      }
    }
    EXPECT_EQ(hot, 1);
    EXPECT_EQ(slice.At(static_cast<int>(bad % kColumns / 7), static_cast<int>(bad / kColumns / 10)),
              0.5);
  }
}

TEST(PooledSlice, SaysWhereThereIsNoElement) {
  PooledSlice slice(2, 3, 1, 1);
  slice.Add(0, std::vector<double>{0, 1, 2, 3});
  EXPECT_EQ(slice.At(0, 1), 3);
  EXPECT_LT(slice.At(1, 1), 0);
}

TEST(ReadSlices, ReadsOnlyThosePages) {
  Pair pair({5, 3, 4});
  for (size_t i = 0; i < pair.a.size(); ++i) pair.a[i] += static_cast<float>(i);
  std::vector<PooledSlice> slices(2, PooledSlice(3, 4, 1, 1));
  const SliceLayout layout(pair.dims);
  ASSERT_TRUE(ReadSlices(pair.source(), ErrorKind::kAbsolute, layout, 3, slices).ok());
  EXPECT_EQ(slices[0].At(0, 0), 36);
  EXPECT_EQ(slices[1].At(3, 2), 59);
  ASSERT_TRUE(ReadSlices(pair.source(), ErrorKind::kRelative, layout, 0, slices).ok());
}

TEST(LoadMagnitudes, ReadsEveryKindOfNumber) {
  const std::vector<float> complex = {3, -4, 0, 2};
  std::vector<double> out(2);
  LoadMagnitudes({DType::kComplex64, std::as_bytes(std::span(complex)), 2}, 0, 2, out.data());
  EXPECT_EQ(out, (std::vector<double>{5, 2}));
  const std::vector<int8_t> ints = {-7, 7};
  LoadMagnitudes({DType::kInt8, std::as_bytes(std::span(ints)), 2}, 0, 2, out.data());
  EXPECT_EQ(out, (std::vector<double>{7, 7}));
}

}  // namespace
}  // namespace vernier
