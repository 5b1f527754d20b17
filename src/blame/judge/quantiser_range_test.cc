#include "blame/judge/quantiser_range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>

#include "compare/outputs/tensor_for_test.h"
#include "model/onnx/onnx_test_model.h"

namespace vernier {
namespace {

using namespace testing_model;
using testing::HasSubstr;

std::string Raw(std::string_view name, int32_t type, std::string_view bytes) {
  return Field(5, Number(2, static_cast<uint64_t>(type)) + Field(8, name) + Field(9, bytes));
}

// int8 with a step of 0.5 around the zero point -28: -50 to 77.5.
std::shared_ptr<const OnnxModel> Quantiser() {
  const float scale = 0.5F;
  const auto bits = std::bit_cast<std::array<char, 4>>(scale);
  return Shared(Field(1, Node("QuantizeLinear", {"x", "s", "z"}, {"q"})) +
                Field(1, Node("QuantizeLinear", {"x", "made"}, {"r"})) +
                Raw("s", 1, std::string_view(bits.data(), 4)) + Raw("z", 3, "\xE4"));
}

TEST(QuantiserRange, FollowsFromScaleAndZeroPoint) {
  const auto model = Quantiser();
  const auto range = RangeOf(model->graph(), model->graph().nodes[0]);
  ASSERT_TRUE(range);
  EXPECT_EQ(range->low, -50);
  EXPECT_EQ(range->high, 77.5);
  EXPECT_EQ(range->step, 0.5);
}

TEST(QuantiserRange, IsNotKnownOfAScaleThatIsComputed) {
  const auto model = Quantiser();
  EXPECT_FALSE(RangeOf(model->graph(), model->graph().nodes[1]));
}

TEST(QuantiserRange, TellsWhatIsClipped) {
  const std::string misfit = DescribeMisfit({-1, 1, 0.01}, Floats({-0.5F, 0.5F, 3, 4}));
  EXPECT_EQ(misfit, "clips 50 % of its values: it holds -1 to 1, they are -0.5 to 4");
}

TEST(QuantiserRange, TellsOfValuesWithinFewSteps) {
  EXPECT_THAT(DescribeMisfit({-100, 100, 1}, Floats({0, 3.5F})), HasSubstr("fill 4 of its steps"));
}

TEST(QuantiserRange, SaysNothingOfWhatFits) {
  EXPECT_EQ(DescribeMisfit({-1, 1, 0.01}, Floats({-0.9F, 0.9F})), "");
  EXPECT_EQ(DescribeMisfit({-1, 1, 0.01}, Ints({1}, {7})), "");
}

}  // namespace
}  // namespace vernier
