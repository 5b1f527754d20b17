#include "compare/shape_match.h"

#include <gtest/gtest.h>

#include <numeric>

#include "compare/tensor_for_test.h"

namespace vernier {
namespace {

Tensor Counting(const Dims& dims) {
  std::vector<float> values(static_cast<size_t>(*ElementCount(dims)));
  std::iota(values.begin(), values.end(), 0.f);
  return Floats(dims, values);
}

struct ShapeCase {
  const char* name;
  Dims from, to;
  std::vector<ShapeStep::Kind> steps;
};

class ShapeSteps : public testing::TestWithParam<ShapeCase> {};

TEST_P(ShapeSteps, AreTaken) {
  const ShapeCase& c = GetParam();
  const auto match = MatchShape(Counting(c.from), c.to);
  ASSERT_TRUE(match.ok());
  std::vector<ShapeStep::Kind> steps;
  for (const ShapeStep& step : match->steps) steps.push_back(step.kind);
  EXPECT_EQ(steps, c.steps);
}

using Kind = ShapeStep::Kind;

INSTANTIATE_TEST_SUITE_P(
    Shapes, ShapeSteps,
    testing::Values(ShapeCase{"Equal", {2, 3}, {2, 3}, {}},
                    ShapeCase{"Squeeze", {1, 1, 3, 3}, {3, 3}, {Kind::kReshaped}},
                    ShapeCase{"Unsqueeze", {3, 3}, {1, 1, 3, 3}, {Kind::kReshaped}},
                    ShapeCase{"Transpose", {1, 3, 2, 2}, {1, 2, 2, 3}, {Kind::kPermuted}},
                    ShapeCase{"Reshape", {2, 6}, {3, 4}, {Kind::kNotPermutable, Kind::kReshaped}},
                    // Tried before and after the transposition that cannot be.
                    ShapeCase{
                        "OtherVolume", {5}, {2, 3}, {Kind::kNotReshapable, Kind::kNotReshapable}},
                    ShapeCase{"EmptyTransposed", {0, 3}, {3, 0}, {Kind::kPermuted}}),
    [](const auto& info) { return info.param.name; });

TEST(Transpose, MovesElements) {
  const Tensor t = *Transpose(Counting({2, 3}), {1, 0});
  EXPECT_EQ(t.dims(), (Dims{3, 2}));
  const auto values = t.As<float>();
  EXPECT_EQ((std::vector<float>{values.begin(), values.end()}),
            (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(Transpose, MovesNibblesAndStrings) {
  // 0 1 2 / 3 4 5 as uint4.
  const Tensor packed = TensorForTest<uint8_t>(DType::kUint4, {2, 3}, {0x10, 0x32, 0x54});
  const Tensor moved = *Transpose(packed, {1, 0});
  EXPECT_EQ(moved.bytes()[0], std::byte{0x30});
  EXPECT_EQ(moved.bytes()[1], std::byte{0x41});
  EXPECT_EQ(moved.bytes()[2], std::byte{0x52});
  const Tensor strings = *Strings({"a", "b", "c", "d"}).Reshaped({2, 2});
  EXPECT_EQ(Transpose(strings, {1, 0})->StringAt(1), "c");
}

}  // namespace
}  // namespace vernier
