#include "run/comparison/empty_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/functions/comparison.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class EmptyStepsTest : public testing::Test {
 protected:
  // A sequence whose output 'y' has these shapes, step by step.
  void Sequence(const std::vector<Dims>& shapes, CompareFunction function) {
    int64_t step = 0;
    for (const Dims& dims : shapes) {
      IterationComparison comparison;
      OutputComparison& output = comparison.outputs.emplace_back();
      output.a_name = output.b_name = "y";
      output.a_dims = output.b_dims = dims;
      output.functions.emplace_back().function = function;
      steps_.Add({sequence_, step++, static_cast<int64_t>(shapes.size())}, comparison);
    }
    ++sequence_;
  }

  EmptySteps steps_;
  int64_t sequence_ = 0;
};

TEST_F(EmptyStepsTest, MostStepsBehindTheFirst) {
  Sequence({{1, 1, 64}, {1, 0, 64}, {1, 0, 64}}, CompareFunction::kLogits);
  EXPECT_THAT(steps_.Describe(),
              ElementsAre("output 'y' has no elements in 2 of 3 iterations, though it has some at "
                          "the first step: nothing was compared there"));
}

TEST_F(EmptyStepsTest, TwoStepsAreEnough) {
  for (int i = 0; i < 3; ++i) Sequence({{1, 4}, {1, 0}}, CompareFunction::kSimple);
  EXPECT_EQ(steps_.Describe().size(), 1u);
}

TEST_F(EmptyStepsTest, SomeStepsMayBe) {
  Sequence({{1, 1, 64}, {1, 0, 64}, {1, 1, 64}}, CompareFunction::kSimple);
  EXPECT_THAT(steps_.Describe(), IsEmpty());
}

// An output that never has elements shows nothing, and is called so.
TEST_F(EmptyStepsTest, AllStepsAreNoFault) {
  Sequence({{1, 0}, {1, 0}, {1, 0}}, CompareFunction::kSimple);
  EXPECT_THAT(steps_.Describe(), IsEmpty());
}

TEST_F(EmptyStepsTest, PicturesWithoutBoxesAreNoFault) {
  Sequence({{3, 6}, {0, 6}, {0, 6}}, CompareFunction::kSimple);
  EXPECT_THAT(steps_.Describe(), IsEmpty());
}

TEST_F(EmptyStepsTest, LogitsHaveAPositionAtEachStep) {
  Sequence({{1, 64}, {0, 64}, {0, 64}}, CompareFunction::kLogits);
  EXPECT_EQ(steps_.Describe().size(), 1u);
}

}  // namespace
}  // namespace vernier
