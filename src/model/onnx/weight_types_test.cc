#include "model/onnx/weight_types.h"

#include <gtest/gtest.h>

#include "model/onnx/onnx_test_model.h"

namespace vernier {
namespace {

using namespace testing_model;

constexpr uint64_t kFloat = 1, kInt64 = 7, kFloat16 = 10;

std::string Values(uint64_t type) { return Number(1, 2) + Number(2, type); }

std::string Initializer(std::string_view name, uint64_t type) {
  return Field(5, Values(type) + Field(8, name));
}

std::string Constant(std::string_view name, uint64_t type) {
  const std::string value = Field(1, "value") + Field(5, Values(type)) + Number(20, 4);
  return Field(1, Node("Constant", {}, {name}, Field(5, value)));
}

std::vector<DType> TypesOf(const std::string& graph) {
  return FloatWeightTypes(*Parse(Model(graph)));
}

TEST(WeightTypesTest, InitializersCountBeforeConstants) {
  const std::vector<DType> types = {DType::kFloat32};
  EXPECT_EQ(
      TypesOf(Initializer("w", kFloat) + Initializer("shape", kInt64) + Constant("c", kFloat16)),
      types);
}

TEST(WeightTypesTest, ConstantsAreTheWeightsOfAModelWithoutOthers) {
  const std::vector<DType> types = {DType::kFloat16};
  EXPECT_EQ(TypesOf(Initializer("shape", kInt64) + Constant("w", kFloat16)), types);
  EXPECT_TRUE(TypesOf(Constant("shape", kInt64)).empty());
}

TEST(WeightTypesTest, BodiesHaveWeights) {
  const std::vector<DType> types = {DType::kFloat32, DType::kFloat16};
  const std::string branch =
      Field(1, "then_branch") + Field(6, Constant("w", kFloat16)) + Number(20, 5);
  EXPECT_EQ(
      TypesOf(Initializer("v", kFloat) + Field(1, Node("If", {"c"}, {"y"}, Field(5, branch)))),
      types);
}

}  // namespace
}  // namespace vernier
