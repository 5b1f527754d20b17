#include "inputs/extreme_values.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "kernels/elements/element_blocks.h"

namespace vernier {
namespace {

constexpr DType kFloats[] = {DType::kFloat64,    DType::kFloat32,        DType::kFloat16,
                             DType::kBFloat16,   DType::kFloat8E4M3FN,   DType::kFloat8E4M3FNUZ,
                             DType::kFloat8E5M2, DType::kFloat8E5M2FNUZ, DType::kFloat4E2M1};

std::vector<double> ValuesOf(const Tensor& tensor) {
  std::vector<double> values(static_cast<size_t>(tensor.element_count()));
  std::array<double, kBlockSize> scratch;
  const double* block =
      LoadBlock(ElementSpan{tensor.dtype(), tensor.bytes(), tensor.element_count()}, 0,
                values.size(), scratch.data());
  values.assign(block, block + values.size());
  return values;
}

std::vector<double> Extreme(DType dtype, ExtremeSet set) {
  Result<TensorBuffer> buffer = TensorBuffer::Allocate(dtype, {64});
  std::fill(buffer->bytes().begin(), buffer->bytes().end(), std::byte{0});
  const Tensor zeros = std::move(*buffer).Freeze();
  NumpyRandom random(3);
  const Result<Tensor> made = MakeExtreme(zeros, set, random);
  EXPECT_TRUE(made.ok()) << DTypeName(dtype);
  return ValuesOf(*made);
}

TEST(ExtremeValues, AreWhatTheSetSaysInEveryFloatType) {
  for (const DType dtype : kFloats) {
    SCOPED_TRACE(DTypeName(dtype));
    for (const double value : Extreme(dtype, ExtremeSet::kDenormals)) {
      EXPECT_GT(std::fabs(value), 0);
      EXPECT_LT(std::fabs(value), SmallestNormal(dtype));
    }
    for (const double value : Extreme(dtype, ExtremeSet::kZeros)) EXPECT_EQ(value, 0);
    for (const double value : Extreme(dtype, ExtremeSet::kLarge)) {
      EXPECT_TRUE(std::isfinite(value));
      EXPECT_GT(std::fabs(value), 1);
    }
  }
}

TEST(ExtremeValues, NonFiniteOnesStandAmongTheOthers) {
  for (const DType dtype : kFloats) {
    SCOPED_TRACE(DTypeName(dtype));
    for (const ExtremeSet set : {ExtremeSet::kNan, ExtremeSet::kInf}) {
      if (!TakesExtremes(dtype, set)) continue;
      size_t count = 0;
      for (const double value : Extreme(dtype, set)) {
        count += std::isnan(value) == (set == ExtremeSet::kNan) && !std::isfinite(value) ? 1 : 0;
      }
      EXPECT_EQ(count, 4u);
    }
  }
}

TEST(ExtremeValues, ZerosHaveBothSigns) {
  const std::vector<double> zeros = Extreme(DType::kFloat32, ExtremeSet::kZeros);
  EXPECT_FALSE(std::signbit(zeros[0]));
  EXPECT_TRUE(std::signbit(zeros[1]));
}

TEST(ExtremeValues, LimitsOfIntegersComeInTurn) {
  NumpyRandom random(1);
  const auto limits = [&](DType dtype, size_t size, ExtremeSet set = ExtremeSet::kLimits) {
    const std::vector<std::byte> old(2 * size);
    const Result<Tensor> made = MakeExtreme(*Tensor::Copy(dtype, {2}, old), set, random);
    EXPECT_TRUE(made.ok());
    std::string text;
    for (const std::byte byte : made->bytes()) text += static_cast<char>(byte);
    return text;
  };
  EXPECT_EQ(limits(DType::kInt8, 1), "\x80\x7f");
  EXPECT_EQ(limits(DType::kInt8, 1, ExtremeSet::kLimitsFromLargest), "\x7f\x80");
  EXPECT_EQ(limits(DType::kUint8, 1), std::string("\0\xff", 2));
  EXPECT_EQ(limits(DType::kInt16, 2), std::string("\0\x80\xff\x7f", 4));
  EXPECT_EQ(limits(DType::kInt64, 8),
            std::string(7, '\0') + "\x80" + std::string(7, '\xff') + "\x7f");
  EXPECT_FALSE(TakesExtremes(DType::kFloat32, ExtremeSet::kLimits));
  EXPECT_FALSE(TakesExtremes(DType::kBool, ExtremeSet::kLimits));
}

TEST(ExtremeValues, TypesWithoutSuchValuesSayNo) {
  EXPECT_FALSE(TakesExtremes(DType::kInt64, ExtremeSet::kZeros));
  EXPECT_FALSE(TakesExtremes(DType::kFloat4E2M1, ExtremeSet::kNan));
  EXPECT_FALSE(TakesExtremes(DType::kFloat8E4M3FN, ExtremeSet::kInf));
  NumpyRandom random(1);
  const Result<Tensor> none = MakeExtreme(
      *Tensor::Copy(DType::kBool, {1}, std::array{std::byte{1}}), ExtremeSet::kZeros, random);
  EXPECT_FALSE(none.ok());
}

}  // namespace
}  // namespace vernier
