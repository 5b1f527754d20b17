#include "blame/search/body_feeds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "compare/outputs/tensor_for_test.h"
#include "model/onnx/onnx_test_model.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing_model::Field;
using testing_model::Number;
using testing_model::Value;

Tensor TruthValue(bool value) {
  return TensorForTest<uint8_t>(DType::kBool, {}, {static_cast<uint8_t>(value ? 1 : 0)});
}

// The `body` of the first node of a model, which stays as long as this.
struct BodyForTest {
  explicit BodyForTest(std::string_view node) : model(testing_model::Shared(Field(1, node))) {}

  Result<BodyFeeds> Start(const TensorMap& outer) const {
    const OnnxNode& node = model->graph().nodes[0];
    const OnnxGraph& body = model->Subgraph(model->graph().Subgraphs(node)[0]);
    return BodyFeeds::Start(*model, node, body, [&](std::string_view name) -> Result<Tensor> {
      const Tensor* tensor = Find(outer, name);
      if (tensor == nullptr) return NotFound("no " + std::string(name));
      return *tensor;
    });
  }

  std::shared_ptr<const OnnxModel> model;
};

// Runs "n" times, without a condition; carries "v" along.
BodyForTest LoopForTest() {
  const std::string body = Field(1, testing_model::Node("Add", {"v_in", "v_in"}, {"v_out"})) +
                           Field(11, Value("i")) + Field(11, Value("go_in")) +
                           Field(11, Value("v_in")) + Field(12, Value("go_out")) +
                           Field(12, Value("v_out"));
  return BodyForTest(testing_model::Node("Loop", {"n", "", "v"}, {"y"},
                                         Field(5, Field(1, "body") + Field(6, body))));
}

// Carries "s" along the slices of "xs".
BodyForTest ScanForTest() {
  const std::string body = Field(1, testing_model::Node("Add", {"s_in", "x"}, {"s_out"})) +
                           Field(11, Value("s_in")) + Field(11, Value("x")) +
                           Field(12, Value("s_out"));
  return BodyForTest(testing_model::Node("Scan", {"s", "xs"}, {"y"},
                                         Field(5, Field(1, "body") + Field(6, body)) +
                                             Field(5, Field(1, "num_scan_inputs") + Number(3, 1))));
}

std::vector<std::string> NamesIn(const TensorMap& feed) {
  std::vector<std::string> names;
  for (const NamedTensor& input : feed) names.push_back(input.name);
  return names;
}

TEST(BodyFeeds, ALoopsBodyHasACounterAConditionAndWhatIsCarried) {
  const BodyForTest loop = LoopForTest();
  const Result<BodyFeeds> feeds = loop.Start({{"n", Ints({}, {2})}, {"v", Floats({3})}});
  ASSERT_TRUE(feeds.ok()) << feeds.status().message();
  EXPECT_THAT(NamesIn(feeds->first()), ElementsAre("i", "go_in", "v_in"));
  EXPECT_EQ(feeds->first()[0].tensor.As<int64_t>()[0], 0);
  EXPECT_EQ(feeds->first()[2].tensor.As<float>()[0], 3);
}

TEST(BodyFeeds, TheNextRoundOfALoopReadsWhatTheLastOneMade) {
  const BodyForTest loop = LoopForTest();
  Result<BodyFeeds> feeds = loop.Start({{"n", Ints({}, {2})}, {"v", Floats({3})}});
  ASSERT_TRUE(feeds.ok()) << feeds.status().message();
  const TensorMap made = {{"go_out", TruthValue(true)}, {"v_out", Floats({6})}};
  const Result<TensorMap> second = feeds->Next(feeds->first(), made);
  ASSERT_TRUE(second.ok()) << second.status().message();
  EXPECT_THAT(NamesIn(*second), ElementsAre("i", "go_in", "v_in"));
  EXPECT_EQ((*second)[0].tensor.As<int64_t>()[0], 1);
  EXPECT_EQ((*second)[2].tensor.As<float>()[0], 6);
  EXPECT_EQ(feeds->Next(*second, made).status().code(), StatusCode::kNotFound);
}

TEST(BodyFeeds, ALoopEndsWithItsCondition) {
  const BodyForTest loop = LoopForTest();
  Result<BodyFeeds> feeds = loop.Start({{"n", Ints({}, {2})}, {"v", Floats({3})}});
  ASSERT_TRUE(feeds.ok()) << feeds.status().message();
  const TensorMap made = {{"go_out", TruthValue(false)}, {"v_out", Floats({6})}};
  EXPECT_EQ(feeds->Next(feeds->first(), made).status().code(), StatusCode::kNotFound);
}

TEST(BodyFeeds, ALoopOfNoRoundsHasNoFirst) {
  const BodyForTest loop = LoopForTest();
  EXPECT_EQ(loop.Start({{"n", Ints({}, {0})}, {"v", Floats({3})}}).status().code(),
            StatusCode::kNotFound);
}

TEST(BodyFeeds, AScansBodyReadsOneSliceARound) {
  const BodyForTest scan = ScanForTest();
  Result<BodyFeeds> feeds = scan.Start({{"s", Floats({0})}, {"xs", Floats({2, 1}, {7, 8})}});
  ASSERT_TRUE(feeds.ok()) << feeds.status().message();
  EXPECT_THAT(NamesIn(feeds->first()), ElementsAre("s_in", "x"));
  EXPECT_EQ(feeds->first()[1].tensor.As<float>()[0], 7);
  const TensorMap made = {{"s_out", Floats({7})}};
  const Result<TensorMap> second = feeds->Next(feeds->first(), made);
  ASSERT_TRUE(second.ok()) << second.status().message();
  EXPECT_EQ((*second)[0].tensor.As<float>()[0], 7);
  EXPECT_EQ((*second)[1].tensor.As<float>()[0], 8);
  EXPECT_EQ(feeds->Next(*second, made).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace vernier
