#include "report/text/numpy_text.h"
#include "core/test_values.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

namespace vernier {
namespace {

// Random arrays are compared with NumPy in tests/compare_oracle.

template <typename T>
Tensor Make(DType dtype, Dims dims, const std::vector<T>& values) {
  return *Tensor::Copy(dtype, std::move(dims), std::as_bytes(std::span(values)));
}

Tensor Floats(Dims dims, const std::vector<float>& values) {
  return Make(DType::kFloat32, std::move(dims), values);
}

TEST(FormatNumpyArray, AlignsDecimalPoints) {
  EXPECT_EQ(FormatNumpyArray(Floats({2, 3}, {0, 0.01f, 0, 0, 0.3f, -12.5f})),
            "[[ 0.00e+00  1.00e-02  0.00e+00]\n"
            " [ 0.00e+00  3.00e-01 -1.25e+01]]");
  EXPECT_EQ(FormatNumpyArray(Floats({3}, {1, 2.5f, -3})), "[ 1.   2.5 -3. ]");
}

TEST(FormatNumpyArray, PadsNonFiniteValues) {
  EXPECT_EQ(FormatNumpyArray(Floats({3}, {1, kNan, -kInfinity})), "[  1.  nan -inf]");
  EXPECT_EQ(FormatNumpyArray(Floats({2}, {kNan, kInfinity})), "[nan inf]");
}

TEST(FormatNumpyArray, WrapsAtSeventyFiveColumns) {
  std::vector<int64_t> values(40);
  std::iota(values.begin(), values.end(), 0);
  EXPECT_EQ(FormatNumpyArray(Make(DType::kInt64, {40}, values)),
            "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n"
            " 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39]");
}

TEST(FormatNumpyArray, SummarisesMoreThanAThousand) {
  EXPECT_EQ(FormatNumpyArray(Make(DType::kInt64, {1001}, std::vector<int64_t>(1001, 7))),
            "[7 7 7 ... 7 7 7]");
}

TEST(FormatNumpyArray, SeparatesOuterAxesByBlankLines) {
  EXPECT_EQ(FormatNumpyArray(Make<uint8_t>(DType::kBool, {2, 1, 2}, {1, 0, 0, 0})),
            "[[[ True False]]\n\n [[False False]]]");
}

TEST(FormatNumpyArray, WritesScalarsWithoutBrackets) {
  EXPECT_EQ(FormatNumpyArray(Floats({}, {1e-5f})), "1e-05");
  EXPECT_EQ(FormatNumpyArray(Floats({}, {3})), "3.0");
  EXPECT_EQ(FormatNumpyArray(Make<uint8_t>(DType::kBool, {}, {1})), "True");
  EXPECT_EQ(FormatNumpyArray(Floats({0, 2}, {})), "[]");
}

TEST(FormatNumpyArray, WritesTypesThatNumPyLacks) {
  EXPECT_EQ(FormatNumpyArray(Make<uint16_t>(DType::kBFloat16, {2}, {0x3f80, 0x4000})), "[1. 2.]");
  EXPECT_EQ(FormatNumpyArray(Make<uint8_t>(DType::kInt4, {2}, {0xf7})), "[ 7 -1]");
  const std::vector<std::string> words = {"a", "it's"};
  EXPECT_EQ(FormatNumpyArray(*Tensor::FromStrings({2}, words)), "['a' \"it's\"]");
}

TEST(FormatNumpySelection, PicksElements) {
  EXPECT_EQ(FormatNumpySelection(Floats({2, 2}, {1, 2, 3, 4}), {1, 3}), "[2. 4.]");
  EXPECT_EQ(FormatNumpySelection(Floats({2, 2}, {1, 2, 3, 4}), {}), "[]");
}

}  // namespace
}  // namespace vernier
