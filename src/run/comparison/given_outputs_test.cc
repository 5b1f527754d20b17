#include "run/comparison/given_outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compare/outputs/tensor_for_test.h"
#include "core/test_values.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

RunPlan PlanWithTopK(bool lenient) {
  RunPlan plan;
  plan.lenient = lenient;
  plan.strict = true;
  plan.postprocess.entries.emplace_back("y", TopK{2, -1});
  return plan;
}

Tensor TwoFloats(float first, float second) {
  return TensorForTest<float>(DType::kFloat32, {2}, {first, second});
}

const TensorMap kGiven = {{"x", TwoFloats(1, kNan)}, {"y", TwoFloats(kNan, 2)}};

TEST(GivenOutputs, NameOutputsThatEitherStreamDropped) {
  const RunPlan plan;
  GivenOutputs given(plan, 3, true);
  given.Note(0, kGiven, {kGiven[0]});
  given.Note(2, kGiven, {kGiven[1]});
  given.Note(2, kGiven, {kGiven[1]});
  EXPECT_THAT(given.Dropped(0, 1), ElementsAre("y"));
  EXPECT_THAT(given.Dropped(0, 2), ElementsAre("y", "x"));
}

TEST(GivenOutputs, ThatAreRenamedAreNotDropped) {
  const RunPlan plan;
  GivenOutputs given(plan, 1, true);
  given.Note(0, kGiven, {{"a", TwoFloats(1, 1)}, {"b", TwoFloats(2, 2)}});
  EXPECT_THAT(given.Dropped(0, 0), IsEmpty());
}

TEST(GivenOutputs, KnowNaNThatTopKHides) {
  const RunPlan plan = PlanWithTopK(false);
  GivenOutputs given(plan, 2, false);
  given.Note(1, kGiven, kGiven);
  given.Note(1, kGiven, kGiven);
  EXPECT_THAT(given.hidden_nans(), ElementsAre(Pair(1, "y")));
  GivenOutputs by_script(plan, 2, true);
  by_script.Note(1, kGiven, kGiven);
  EXPECT_THAT(by_script.hidden_nans(), IsEmpty());
  const RunPlan lenient = PlanWithTopK(true);
  GivenOutputs accepted(lenient, 2, false);
  accepted.Note(1, kGiven, kGiven);
  EXPECT_THAT(accepted.hidden_nans(), IsEmpty());
}

TEST(GivenOutputs, KnowTypesWhereTheyCount) {
  const RunPlan strict = PlanWithTopK(false), plain;
  GivenOutputs given(strict, 2, false), unasked(plain, 2, false);
  for (GivenOutputs* outputs : {&given, &unasked}) outputs->Note(0, kGiven, kGiven);
  ASSERT_NE(given.TypesOf(0, "x"), nullptr);
  EXPECT_THAT(*given.TypesOf(0, "x"), ElementsAre(DType::kFloat32));
  EXPECT_EQ(given.TypesOf(1, "x"), nullptr);
  EXPECT_EQ(given.TypesOf(0, "z"), nullptr);
  EXPECT_EQ(unasked.TypesOf(0, "x"), nullptr);
}

}  // namespace
}  // namespace vernier
