#include "check/properties/unwritten.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

TensorMap Outputs(DType dtype, Dims dims, const std::vector<uint8_t>& bytes) {
  return {{"y", *Tensor::Copy(dtype, std::move(dims), std::as_bytes(std::span(bytes)))}};
}

TEST(FindUnwritten, NamesTheFirstElementThatHoldsBothFillings) {
  const TensorMap a = Outputs(DType::kInt16, {2, 2}, {1, 0, 0x55, 0x55, 2, 0, 0x55, 0x55});
  const TensorMap b = Outputs(DType::kInt16, {2, 2}, {1, 0, 0xAA, 0xAA, 2, 0, 0xAA, 0xAA});
  EXPECT_EQ(FindUnwritten({0x55, a}, {0xAA, b}),
            "output 'y' at (0, 1): 2 of 4 elements still hold what was there before");
}

TEST(FindUnwritten, OneFillingAloneMayBeAValue) {
  const TensorMap a = Outputs(DType::kUint8, {2}, {0x55, 1});
  const TensorMap b = Outputs(DType::kUint8, {2}, {0x55, 1});
  EXPECT_EQ(FindUnwritten({0x55, a}, {0xAA, b}), std::nullopt);
}

TEST(FindUnwritten, HalfAnElementIsWritten) {
  const TensorMap a = Outputs(DType::kInt16, {1}, {0x55, 1});
  const TensorMap b = Outputs(DType::kInt16, {1}, {0xAA, 1});
  EXPECT_EQ(FindUnwritten({0x55, a}, {0xAA, b}), std::nullopt);
}

TEST(FindUnwritten, PackedElementsAreCountedInPairs) {
  const TensorMap a = Outputs(DType::kInt4, {4}, {1, 0x55});
  const TensorMap b = Outputs(DType::kInt4, {4}, {1, 0xAA});
  EXPECT_EQ(FindUnwritten({0x55, a}, {0xAA, b}),
            "output 'y' at (2,): 2 of 4 elements still hold what was there before");
}

TEST(FindUnwritten, EmptyAndMissingOutputsHaveNone) {
  const TensorMap empty = Outputs(DType::kFloat32, {0}, {});
  EXPECT_EQ(FindUnwritten({0x55, empty}, {0xAA, empty}), std::nullopt);
  EXPECT_EQ(FindUnwritten({0x55, Outputs(DType::kUint8, {1}, {0x55})}, {0xAA, {}}), std::nullopt);
}

}  // namespace
}  // namespace vernier
