#include "model/shapes/dims_of_part.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "model/onnx/onnx_test_model.h"

namespace vernier {
namespace {

using namespace testing_model;

constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// An initializer of one int64.
std::string One(std::string_view name, int64_t value) {
  return Field(
      5, Number(1, 1) + Number(2, 7) + Number(7, static_cast<uint64_t>(value)) + Field(8, name));
}

struct Bounds {
  int64_t start, end, step;
};

std::optional<Dims> Slice(int64_t size, const Bounds& bounds) {
  const auto model =
      Parse(Model(Field(1, Node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"y"})) +
                  One("starts", bounds.start) + One("ends", bounds.end) + One("axes", 0) +
                  One("steps", bounds.step) + Field(11, Value("x")) + Field(12, Value("y"))));
  if (!model.ok()) return std::nullopt;
  const InputDims input{"x", {size, 3}};
  const ShapeTracker shapes(*model, {&input, 1});
  return DimsOfPart(*model, model->graph(), model->graph().nodes.front(), shapes);
}

// As ONNX has it: backward, starts are moved to the elements, and ends to one before them.
TEST(PartShapes, SlicesCountWhatIsBetweenTheirBounds) {
  const std::pair<Bounds, int64_t> cases[] = {
      {{0, 5, 1}, 5},          {{1, kMost, 2}, 2},
      {{-100, 3, 1}, 3},       {{7, 9, 1}, 0},
      {{4, kSmallest, -1}, 5}, {{100, kSmallest, -1}, 5},
      {{-1, -100, -2}, 3},     {{-100, kSmallest, -1}, 1},
      {{-100, 0, -1}, 0},      {{kSmallest, kSmallest, -1}, 1},
      {{2, 2, -1}, 0},         {{0, 4, -1}, 0},
  };
  for (const auto& [bounds, count] : cases) {
    EXPECT_EQ(Slice(5, bounds), (Dims{count, 3}))
        << bounds.start << " to " << bounds.end << " by " << bounds.step;
  }
}

TEST(PartShapes, SlicesOfNothingAreNothing) {
  EXPECT_EQ(Slice(0, {0, kMost, 1}), (Dims{0, 3}));
  EXPECT_EQ(Slice(0, {-1, kSmallest, -1}), (Dims{0, 3}));
}

}  // namespace
}  // namespace vernier
