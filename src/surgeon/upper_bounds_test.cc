#include "surgeon/upper_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/onnx/onnx_test_model.h"
#include "util/log/no_log.h"
#include "util/log/recording_logger.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_model::Field;
using testing_model::Node;
using testing_model::Value;

// y = Expand(x, s): how large it is, s decides, which a node makes.
OnnxModel Expanding() {
  const std::string graph = Field(1, Node("Relu", {"n"}, {"s"})) +
                            Field(1, Node("Expand", {"x", "s"}, {"t"})) +
                            Field(1, Node("Exp", {"t"}, {"y"})) + Field(11, Value("n")) +
                            Field(11, Value("x")) + Field(12, Value("y"));
  return *testing_model::Parse(testing_model::Model(graph));
}

std::vector<std::string> OperatorsOf(const OnnxModel& model) {
  std::vector<std::string> ops;
  for (const OnnxNode& node : model.graph().nodes) ops.emplace_back(node.op_type);
  return ops;
}

TEST(TensorsWithoutBound, AreThoseThatDecideSizesNobodyKnows) {
  const OnnxModel model = Expanding();
  const auto found = TensorsWithoutBound(model);
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(*found, ElementsAre("s"));
}

TEST(WithUpperBounds, PutsMinBehindWhatDecidesTheSize) {
  NoLog log;
  const Result<OnnxModel> bounded =
      WithUpperBounds(Expanding(), std::vector<UpperBound>{{"", 100}}, log);
  ASSERT_TRUE(bounded.ok()) << bounded.status().message();
  EXPECT_THAT(OperatorsOf(*bounded), ElementsAre("Relu", "Min", "Expand", "Exp"));
  ASSERT_EQ(bounded->graph().initializers.size(), 1u);
  EXPECT_EQ(bounded->graph().initializers[0].name, "s_upper_bound");
  // What has a bound needs none.
  const auto left = TensorsWithoutBound(*bounded);
  ASSERT_TRUE(left.ok());
  EXPECT_THAT(*left, IsEmpty());
}

TEST(WithUpperBounds, RefusesTensorsThatNoNodeMakes) {
  NoLog log;
  EXPECT_EQ(WithUpperBounds(Expanding(), std::vector<UpperBound>{{"lost", 1}}, log).status().code(),
            StatusCode::kNotFound);
  EXPECT_EQ(WithUpperBounds(Expanding(), std::vector<UpperBound>{{"x", 1}}, log).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(WithUpperBounds, WarnsOfTensorsThatNeedNone) {
  RecordingLogger log;
  const Result<OnnxModel> bounded =
      WithUpperBounds(Expanding(), std::vector<UpperBound>{{"t", 5}}, log);
  ASSERT_TRUE(bounded.ok()) << bounded.status().message();
  EXPECT_THAT(log.Texts(Severity::kWarning), testing::ElementsAre(HasSubstr("'t'")));
}

}  // namespace
}  // namespace vernier
