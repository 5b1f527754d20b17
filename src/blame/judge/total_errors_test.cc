#include "blame/judge/total_errors.h"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <vector>

#include "model/onnx/onnx_test_model.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

using testing_model::Field;
using testing_model::Node;
using testing_model::Value;

Tensor FourFloats(const std::vector<float>& values) {
  return *Tensor::Copy(DType::kFloat32, {4}, std::as_bytes(std::span(values)));
}

// x -> a -> y, whose last tensor is "r_y" in the reference.
class TotalErrorsTest : public testing::Test {
 protected:
  TotalErrorsTest()
      : graph_(*BlameGraph::Make(testing_model::Shared(
            Field(1, Node("Relu", {"x"}, {"a"})) + Field(1, Node("Neg", {"a"}, {"y"})) +
            Field(11, Value("x")) + Field(12, Value("y"))))),
        islands_(graph_.Islands(graph_.Targets(visible_), visible_, {})) {
    pairs_.reference = {{"a", "a"}, {"y", "r_y"}};
    for (const char* name : {"a", "r_y"}) {
      ErrorBound bound;
      bound.rms = 1e-6;
      bound.why = "a test";
      bounds_.Set(name, bound);
    }
  }

  const NameSet visible_ = {"a", "y"};
  const BlameGraph graph_;
  const std::vector<Island> islands_;
  TensorPairs pairs_;
  ErrorBounds bounds_;
  const TensorsByName reference_ = {{"a", FourFloats({1, 2, 3, 4})},
                                    {"y", FourFloats({1, 2, 3, 4})}};
  const TensorsByName candidate_ = {{"a", FourFloats({1, 2, 3, 4})},
                                    {"y", FourFloats({1, 2, 3, 5})}};
  ThreadPool threads_{1};
};

TEST_F(TotalErrorsTest, TensorsMeetLayerByLayerUnderBothNames) {
  const MetTensors met = MeetTensors(islands_, pairs_, reference_, candidate_);
  ASSERT_EQ(met.names.size(), 2U);
  EXPECT_EQ(met.names[1], "y");
  EXPECT_EQ(met.reference[1].name, "r_y");
  EXPECT_EQ(met.candidate[1].As<float>()[3], 5);
}

TEST_F(TotalErrorsTest, ALayerHasTheErrorsOfItsOutputs) {
  const MetTensors met = MeetTensors(islands_, pairs_, reference_, candidate_);
  const std::vector<BlameLayerRecord> layers =
      JudgeTotals(graph_, islands_, met, bounds_, threads_);
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[0].op_type, "Relu");
  EXPECT_EQ(layers[0].total_error, 0);
  EXPECT_EQ(layers[0].outputs[0].candidate_name, "");
  EXPECT_EQ(layers[1].op_type, "Neg");
  EXPECT_GT(layers[1].total_error, 1);
  const BlameTensorRecord& tensor = layers[1].outputs[0];
  EXPECT_EQ(tensor.name, "r_y");
  EXPECT_EQ(tensor.candidate_name, "y");
  EXPECT_EQ(tensor.total_error, layers[1].total_error);
  EXPECT_EQ(tensor.bound_why, "a test");
  EXPECT_EQ(tensor.candidate.max, 5);
  EXPECT_EQ(tensor.reference.max, 4);
}

TEST_F(TotalErrorsTest, ForAPageEachTensorIsComparedAsRunDoes) {
  const MetTensors met = MeetTensors(islands_, pairs_, reference_, candidate_);
  std::vector<BlameLayerRecord> layers = JudgeTotals(graph_, islands_, met, bounds_, threads_);
  CompareForCharts(met, bounds_, {}, threads_, layers);
  for (const BlameLayerRecord& layer : layers) {
    ASSERT_NE(layer.outputs[0].compared, nullptr);
  }
  EXPECT_TRUE(layers[0].outputs[0].compared->agrees());
  EXPECT_FALSE(layers[1].outputs[0].compared->agrees());
}

}  // namespace
}  // namespace vernier
