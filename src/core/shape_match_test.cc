#include "core/shape_match.h"

#include <gtest/gtest.h>

#include <numeric>

namespace vernier {
namespace {

Tensor Counting(const Dims& dims) {
  std::vector<float> values(static_cast<size_t>(*ElementCount(dims)));
  std::iota(values.begin(), values.end(), 0.f);
  return *Tensor::Copy(DType::kFloat32, dims, std::as_bytes(std::span(values)));
}

struct ShapeCase {
  const char* name;
  Dims from, to;
  std::vector<ShapeStep::Kind> steps;
};

class ShapeSteps : public testing::TestWithParam<ShapeCase> {};

TEST(WithoutUnitAxes, KeepsTheOthers) {
  EXPECT_EQ(WithoutUnitAxes({1, 3, 1, 0}), (Dims{3, 0}));
  EXPECT_EQ(WithoutUnitAxes({1, 1}), Dims{});
}

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

// PlanShapeMatch says what MatchShape does.
TEST(PlanShapeMatch, NamesTheChange) {
  EXPECT_FALSE(PlanShapeMatch({2, 3}, {2, 3}));
  EXPECT_FALSE(PlanShapeMatch({5}, {2, 3}));
  EXPECT_EQ(PlanShapeMatch({12}, {3, 4})->kind, Kind::kReshaped);
  EXPECT_EQ(PlanShapeMatch({2, 6}, {3, 4})->kind, Kind::kReshaped);
  const std::optional<ShapeStep> permuted = PlanShapeMatch({1, 3, 2, 2}, {1, 2, 2, 3});
  ASSERT_TRUE(permuted);
  EXPECT_EQ(permuted->kind, Kind::kPermuted);
  EXPECT_EQ(permuted->permutation, (std::vector<size_t>{0, 2, 3, 1}));
}

constexpr size_t kSwapped[] = {1, 0};

TEST(Transpose, MovesElements) {
  const Tensor t = *Transpose(Counting({2, 3}), kSwapped);
  EXPECT_EQ(t.dims(), (Dims{3, 2}));
  const auto values = t.As<float>();
  EXPECT_EQ((std::vector<float>{values.begin(), values.end()}),
            (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(Transpose, MovesNibblesAndStrings) {
  const uint8_t codes[] = {0x10, 0x32, 0x54};  // 0 1 2 / 3 4 5
  const Tensor packed = *Tensor::Copy(DType::kUint4, {2, 3}, std::as_bytes(std::span(codes)));
  const Tensor moved = *Transpose(packed, kSwapped);
  EXPECT_EQ(moved.bytes()[0], std::byte{0x30});
  EXPECT_EQ(moved.bytes()[1], std::byte{0x41});
  EXPECT_EQ(moved.bytes()[2], std::byte{0x52});
  const std::vector<std::string> words = {"a", "bb", "", "d", "e", "f"};
  const Tensor turned = *Transpose(*Tensor::FromStrings({2, 3}, words), kSwapped);
  EXPECT_EQ(turned.dims(), (Dims{3, 2}));
  EXPECT_EQ(turned.StringAt(1), "d");
  EXPECT_EQ(turned.StringAt(4), "");
}

}  // namespace
}  // namespace vernier
