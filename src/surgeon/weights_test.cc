// Weights that are stripped, put back, pruned.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "model/onnx/onnx_test_model.h"
#include "surgeon/sparse_weights.h"
#include "surgeon/stripped_weights.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using testing_model::Field;
using testing_model::Node;
using testing_model::Number;
using testing_model::Value;

std::string FloatMatrix(std::string_view name, uint64_t rows, uint64_t columns) {
  return Field(5, Number(1, rows) + Number(1, columns) + Number(2, 1) + Field(8, name) +
                      Field(9, std::string(rows * columns * sizeof(float), 'v')));
}

// t = x * w; y = Gather(table, t); the table is small.
OnnxModel WeightedModel() {
  const std::string graph = Field(1, Node("MatMul", {"x", "w"}, {"t"})) +
                            Field(1, Node("Gather", {"table", "t"}, {"y"})) +
                            FloatMatrix("w", 4, 2) + FloatMatrix("table", 2, 3) +
                            Field(11, Value("x")) + Field(12, Value("y"));
  return *testing_model::Parse(testing_model::Model(graph));
}

TEST(FindStrippable, LeavesSmallTablesAndWhatIsExcluded) {
  const OnnxModel model = WeightedModel();
  std::set<std::string> none;
  EXPECT_THAT(FindStrippable(model, none), UnorderedElementsAre("w"));
  std::set<std::string> exclude = {"w", "nothing"};
  EXPECT_THAT(FindStrippable(model, exclude), IsEmpty());
  // Of what is left, nothing is in the model.
  EXPECT_THAT(exclude, ElementsAre("nothing"));
}

TEST(WithoutValues, MarksWhatItEmptiesAndTheModel) {
  const Result<OnnxModel> stripped = WithoutValues(WeightedModel(), {"w"}, {"w"});
  ASSERT_TRUE(stripped.ok());
  EXPECT_EQ(stripped->contents().doc_string, kWeightlessMark);
  const std::vector<StrippedWeight> found = FindStripped(*stripped);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].tensor->name, "w");
  EXPECT_THAT(found[0].tensor->dims, ElementsAre(4, 2));
  EXPECT_TRUE(found[0].tensor->raw_data.empty());
  EXPECT_TRUE(found[0].sparse);
  // The other one keeps its values.
  EXPECT_EQ(stripped->graph().initializers[1].raw_data.size(), 24u);
}

TEST(WithoutValues, OfNothingLeavesTheModelUnmarked) {
  const Result<OnnxModel> same = WithoutValues(WeightedModel(), {}, {});
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->contents().doc_string, "");
  EXPECT_TRUE(FindStripped(*same).empty());
}

TEST(WithoutValues, MarksAModelOnce) {
  const Result<OnnxModel> once = WithoutValues(WeightedModel(), {"w"}, {});
  ASSERT_TRUE(once.ok());
  const Result<OnnxModel> twice = WithoutValues(*once, {"table"}, {});
  ASSERT_TRUE(twice.ok());
  EXPECT_EQ(twice->contents().doc_string, kWeightlessMark);
  EXPECT_EQ(FindStripped(*twice).size(), 2u);
}

TEST(StandIn, IsTheSameForTheSameName) {
  const OnnxModel model = WeightedModel();
  OnnxTensor tensor = model.graph().initializers[0];
  const Result<Tensor> first = StandIn(tensor);
  const Result<Tensor> again = StandIn(tensor);
  tensor.name = "other";
  const Result<Tensor> other = StandIn(tensor);
  ASSERT_TRUE(first.ok() && again.ok() && other.ok());
  EXPECT_THAT(first->dims(), ElementsAre(4, 2));
  const auto values = [](const Tensor& t) {
    return std::vector<float>(t.As<float>().begin(), t.As<float>().end());
  };
  EXPECT_EQ(values(*first), values(*again));
  EXPECT_NE(values(*first), values(*other));
}

Tensor FloatsOf(const std::vector<float>& values, Dims dims) {
  return *Tensor::Copy(DType::kFloat32, std::move(dims), std::as_bytes(std::span(values)));
}

TEST(Pruned, ZeroesTheTwoSmallestOfEveryFour) {
  const Tensor values = FloatsOf({1, -4, 3, 0.5F, 2, 2, -2, 2}, {2, 4});
  EXPECT_FALSE(IsSparse(values, 1));
  const Result<Tensor> pruned = Pruned(values, 1);
  ASSERT_TRUE(pruned.ok());
  EXPECT_THAT(pruned->As<float>(), ElementsAre(0, -4, 3, 0, 0, 0, -2, 2));
  EXPECT_TRUE(IsSparse(*pruned, 1));
}

TEST(Pruned, GoesAlongItsAxis) {
  const Tensor values = FloatsOf({1, 8, 2, 7, 3, 6, 4, 5}, {4, 2});
  const Result<Tensor> pruned = Pruned(values, 0);
  ASSERT_TRUE(pruned.ok());
  EXPECT_THAT(pruned->As<float>(), ElementsAre(0, 8, 0, 7, 3, 0, 4, 0));
}

TEST(Pruned, KeepsNans) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Result<Tensor> pruned = Pruned(FloatsOf({nan, 1, 2, 3}, {4}), 0);
  ASSERT_TRUE(pruned.ok());
  EXPECT_TRUE(pruned->As<float>()[0] != pruned->As<float>()[0]);
  EXPECT_EQ(pruned->As<float>()[3], 3);
}

TEST(FindPrunableWeights, TakesWeightsWithAMultipleOfFourAlongTheSum) {
  const OnnxModel model = WeightedModel();
  NoLog log;
  const std::vector<PrunableWeight> found = FindPrunableWeights(model, {}, log);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].tensor->name, "w");
  EXPECT_EQ(found[0].axis, 0u);
  EXPECT_TRUE(FindPrunableWeights(model, {"w"}, log).empty());
}

TEST(FindPrunableWeights, LeavesOthers) {
  const std::string graph = Field(1, Node("MatMul", {"x", "w"}, {"y"})) + FloatMatrix("w", 3, 4) +
                            Field(11, Value("x")) + Field(12, Value("y"));
  const OnnxModel model = *testing_model::Parse(testing_model::Model(graph));
  NoLog log;
  EXPECT_TRUE(FindPrunableWeights(model, {}, log).empty());
}

}  // namespace
}  // namespace vernier
