#include "model/ranges/input_steps.h"

#include <gtest/gtest.h>

#include <string>

#include "model/onnx/onnx_test_model.h"

namespace vernier {
namespace {

using namespace testing_model;

// An attribute `to` of that type.
std::string To(uint64_t type) { return Field(5, Field(1, "to") + Number(3, type) + Number(20, 2)); }

constexpr uint64_t kToFloat = 1, kToInt = 7, kToHalf = 10;

std::string GraphFrom(std::initializer_list<std::string> nodes) {
  std::string graph;
  for (const std::string& node : nodes) graph += Field(1, node);
  return graph + Field(2, "g") + Field(11, Value("x")) + Field(12, Value("y"));
}

InputSteps StepsOfX(std::initializer_list<std::string> nodes) {
  return StepsOf(FindSteppedInputs(*Shared(GraphFrom(nodes))), "x");
}

const std::string kLookUp = Node("Gather", {"table", "ids"}, {"y"});

TEST(InputStepsTest, IdsThatArriveAsFloatsAreExact) {
  EXPECT_EQ(StepsOfX({Node("Cast", {"x"}, {"ids"}, To(kToInt)), kLookUp}), InputSteps::kAlone);
}

TEST(InputStepsTest, MovingAndChoosingValuesRoundsNone) {
  EXPECT_EQ(StepsOfX({Node("Cast", {"x"}, {"same"}, To(kToFloat)),
                      Node("Transpose", {"same"}, {"turned"}), Node("Relu", {"turned"}, {"some"}),
                      Node("Concat", {"other", "some"}, {"all"}),
                      Node("Cast", {"all"}, {"ids"}, To(kToInt)), kLookUp}),
            InputSteps::kAlone);
  EXPECT_EQ(StepsOfX({Node("Cast", {"x"}, {"short"}, To(kToHalf)),
                      Node("Cast", {"short"}, {"ids"}, To(kToInt)), kLookUp}),
            InputSteps::kSome)
      << "float16 rounds";
}

TEST(InputStepsTest, ArithmeticBeforeOrBesideAStepRounds) {
  EXPECT_EQ(StepsOfX({Node("Mul", {"x", "scale"}, {"wide"}),
                      Node("Cast", {"wide"}, {"ids"}, To(kToInt)), kLookUp}),
            InputSteps::kNone);
  EXPECT_EQ(StepsOfX({Node("Greater", {"x", "limit"}, {"mask"}), Node("Sqrt", {"x"}, {"root"}),
                      Node("Where", {"mask", "root", "z"}, {"y"})}),
            InputSteps::kSome);
  EXPECT_EQ(StepsOfX({Node("Cast", {"x"}, {"y"}, To(kToFloat))}), InputSteps::kNone)
      << "it is handed out";
}

TEST(InputStepsTest, TreesCompareAndOtherDomainsMayDoAnything) {
  EXPECT_EQ(StepsOfX({Node("TreeEnsembleRegressor", {"x"}, {"y"}, Field(7, "ai.onnx.ml"))}),
            InputSteps::kAlone);
  EXPECT_EQ(StepsOfX({Node("Floor", {"x"}, {"y"}, Field(7, "mine"))}), InputSteps::kNone);
}

}  // namespace
}  // namespace vernier
