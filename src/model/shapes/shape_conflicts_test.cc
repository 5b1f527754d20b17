#include "model/shapes/shape_conflicts.h"

#include <gtest/gtest.h>

#include "model/onnx/onnx_test_model.h"

namespace vernier {
namespace {

namespace made = testing_model;

// Two inputs of the shape (N, 3), of these sizes.
std::string ConflictOf(std::string_view nodes, Dims a, Dims b) {
  const auto model =
      made::Shared(std::string(nodes) + made::Field(11, made::Value("a")) +
                   made::Field(11, made::Value("b")) + made::Field(12, made::Value("y")));
  const std::vector<InputDims> inputs = {{"a", std::move(a)}, {"b", std::move(b)}};
  return FindShapeConflict(*model, inputs);
}

std::string Only(std::string_view op, std::string_view more = {}) {
  return made::Field(
      1, made::Node(op, {"a", "b"}, {"y"}, std::string(made::Field(3, "n")) + std::string(more)));
}

TEST(ShapeConflict, SizesThatDoNotBroadcastAreNamed) {
  EXPECT_EQ(ConflictOf(Only("Add"), {2, 3}, {5, 3}), "node 'n' (Add) is given (2, 3) and (5, 3)");
  EXPECT_EQ(ConflictOf(Only("Add"), {2, 3}, {1, 3}), "");
  EXPECT_EQ(ConflictOf(Only("Add"), {2, 3}, {3}), "");
}

TEST(ShapeConflict, ConcatJoinsAlongItsAxisAlone) {
  const std::string axis =
      made::Field(5, made::Field(1, "axis") + made::Number(3, 1) + made::Number(20, 2));
  EXPECT_EQ(ConflictOf(Only("Concat", axis), {2, 3}, {2, 4}), "");
  EXPECT_EQ(ConflictOf(Only("Concat", axis), {2, 3}, {1, 3}),
            "node 'n' (Concat) is given (2, 3) and (1, 3)");
}

TEST(ShapeConflict, NothingIsSaidOfWhatNoRuleTells) {
  const std::string nodes = made::Field(1, made::Node("NonZero", {"a"}, {"z"})) +
                            made::Field(1, made::Node("Add", {"z", "b"}, {"y"}));
  EXPECT_EQ(ConflictOf(nodes, {2, 3}, {5, 3}), "");
}

}  // namespace
}  // namespace vernier
