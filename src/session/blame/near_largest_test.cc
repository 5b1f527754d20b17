#include "session/blame/near_largest.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace vernier {
namespace {

NearLargest Of(const std::vector<double>& errors) {
  NearLargest near;
  for (size_t i = 0; i < errors.size(); ++i) near.Add({static_cast<int64_t>(i), errors[i]});
  return near;
}

TEST(NearLargest, OfErrorsThatStayTheFirstIsNear) {
  const NearLargest near = Of({0.6, 0.7, 0.5, 0.9, 0.4});
  EXPECT_EQ(near.first().iteration, 0);
  EXPECT_EQ(near.largest().iteration, 3);
}

TEST(NearLargest, RoundingBeforeIsNotNear) {
  EXPECT_EQ(Of({0.1, 0.12, 0.6, 0.8, 0.7}).first().iteration, 2);
  EXPECT_EQ(Of({0, 0, 0.3, 0.2}).first().iteration, 2);
  EXPECT_EQ(Of({0.5, std::numeric_limits<double>::infinity()}).first().iteration, 1);
}

TEST(NearLargest, OfErrorsThatCreepUpFewAreKept) {
  NearLargest near;
  std::vector<double> errors;
  for (int64_t step = 0; step < 1000; ++step) {
    errors.push_back(errors.empty() ? 1e-3 : errors.back() * 1.005);
    near.Add({step, errors.back()});
    int64_t kept = 0;
    for (int64_t i = 0; i <= step; ++i) kept += near.MayBeFirst(i) ? 1 : 0;
    ASSERT_LE(kept, 2);
    const auto first = static_cast<size_t>(near.first().iteration);
    ASSERT_GE(2 * errors[first], errors.back());
    if (first == 0) continue;
    ASSERT_LT(errors[first - 1], 0.71 * errors.back());
  }
}

TEST(NearLargest, WithoutErrorsItIsTheFirst) {
  EXPECT_EQ(Of({0, 0}).first().iteration, 0);
  EXPECT_EQ(Of({}).first().iteration, -1);
}

}  // namespace
}  // namespace vernier
