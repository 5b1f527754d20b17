#include "check/lint/lint_words.h"

#include <gtest/gtest.h>

#include "model/onnx/onnx_test_model.h"

namespace vernier {
namespace {

TEST(PruneMessage, KeepsTheFirstLine) {
  EXPECT_EQ(PruneMessage("it went wrong\nat a.cc:12"), "it went wrong");
  EXPECT_EQ(PruneMessage(""), "");
}

TEST(PruneMessage, DropsWhatIsAboutTheFrameworksSources) {
  EXPECT_EQ(PruneMessage("[ONNXRuntimeError] : 1 : FAIL : Load model from m.onnx failed"),
            "Load model from m.onnx failed");
  EXPECT_EQ(PruneMessage("/onnxruntime/core/graph.cc:12 returned Graph::Check(int, bool) no shape"),
            "no shape");
  EXPECT_EQ(PruneMessage("Non-zero status code returned. Status Message: no room"), "no room");
}

TEST(PruneMessage, LeavesWordsThatOnlyLookLikeIt) {
  EXPECT_EQ(PruneMessage("cannot open weights.cc:12 (of a model)"),
            "cannot open weights.cc:12 (of a model)");
}

TEST(SmallestModel, HasTheVersionsOfTheOther) {
  using testing_model::Field;
  using testing_model::Node;
  const OnnxModel model = *testing_model::Parse(testing_model::Model(
      Field(1, Node("Relu", {"x"}, {"y"})) + Field(12, testing_model::Value("y"))));
  const Result<std::vector<std::byte>> bytes = ToBytes(SmallestModel(model));
  ASSERT_TRUE(bytes.ok());
  const Result<OnnxModel> smallest = testing_model::Parse(
      std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()));
  ASSERT_TRUE(smallest.ok()) << smallest.status().message();
  EXPECT_EQ(smallest->contents().ir_version, model.contents().ir_version);
  EXPECT_EQ(smallest->contents().opsets[0].version, 17);
  ASSERT_EQ(smallest->graph().nodes.size(), 1u);
  EXPECT_EQ(smallest->graph().nodes[0].op_type, "Identity");
  EXPECT_EQ(smallest->RequiredInputs().front().name, "x");
}

// OpenVINO reads no file in which a field occurs twice among the first ones.
TEST(SmallestModel, HasItsGraphBeforeTheImports) {
  using testing_model::Field;
  using testing_model::Number;
  const std::string other = Field(8, Field(1, "ai.onnx.ml") + Number(2, 2));
  const std::string graph =
      Field(1, testing_model::Node("Relu", {"x"}, {"y"})) + Field(12, testing_model::Value("y"));
  const OnnxModel model = *testing_model::Parse(testing_model::Model(graph) + other);
  ASSERT_EQ(model.contents().opsets.size(), 2u);
  const std::vector<std::byte> bytes = *ToBytes(SmallestModel(model));
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  EXPECT_LT(text.find("smallest"), text.find(Field(8, Number(2, 17))));
  EXPECT_NE(text.find(other), std::string::npos);
}

}  // namespace
}  // namespace vernier
