#include "blame/sides/reference_choice.h"
#include "core/test_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "blame/judge/tensor_judge.h"

namespace vernier {
namespace {

RunPlan PlanOf(std::initializer_list<const char*> backends) {
  RunPlan plan;
  for (const char* backend : backends) {
    RunnerPlan runner;
    runner.name = std::string(backend) + std::to_string(plan.runners.size());
    runner.backend = backend;
    plan.runners.push_back(runner);
  }
  return plan;
}

RanksOfRunners Ranks(uint32_t first, uint32_t second) {
  return [=] { return std::vector<uint32_t>{first, second}; };
}

// Where ranks must not be asked for.
std::vector<uint32_t> Unasked() {
  ADD_FAILURE() << "ranks were asked for";
  return {0, 0};
}

TEST(ChooseSides, TheCandidateIsTheOneFurtherFromTheDefinition) {
  const RunPlan plan = PlanOf({"a", "b"});
  EXPECT_EQ(ChooseSides(plan, {}, "", Ranks(60, 20))->candidate, 0U);
  EXPECT_EQ(ChooseSides(plan, {}, "", Ranks(20, 30))->candidate, 1U);
}

TEST(ChooseSides, WhoDoesNotSayIsTheCandidate) {
  const RunPlan plan = PlanOf({"a", "b"});
  EXPECT_EQ(ChooseSides(plan, {}, "", Ranks(0, 1000))->candidate, 0U);
  EXPECT_EQ(ChooseSides(plan, {}, "", Ranks(1000, 0))->candidate, 1U);
}

TEST(ChooseSides, OfEqualsTheFirstGivenIsTheReference) {
  EXPECT_EQ(ChooseSides(PlanOf({"openvino", "openvino"}), {}, "", Unasked)->candidate, 1U);
  EXPECT_EQ(ChooseSides(PlanOf({"a", "b"}), {}, "", Ranks(30, 30))->candidate, 1U);
  EXPECT_EQ(ChooseSides(PlanOf({"a", "b"}), {}, "", Ranks(0, 0))->candidate, 1U);
}

TEST(ChooseSides, AModelInAnotherFormatIsTheReference) {
  EXPECT_EQ(ChooseSides(PlanOf({"onnxruntime", "tensorflow"}), {}, "", Unasked)->candidate, 0U);
  EXPECT_EQ(ChooseSides(PlanOf({"torch", "onnxruntime"}), {}, "", Unasked)->candidate, 1U);
  // Of two of them neither has a graph to follow.
  EXPECT_EQ(ChooseSides(PlanOf({"tensorflow", "torch"}), {}, "", Ranks(50, 40))->candidate, 0U);
  RunPlan plan = PlanOf({"torch", "onnxruntime"});
  plan.runners[0].model.type = "onnx";
  EXPECT_EQ(ChooseSides(plan, {}, "", Ranks(50, 20))->candidate, 0U);
}

TEST(ChooseSides, ALabelWins) {
  const auto sides = ChooseSides(PlanOf({"onnxruntime", "openvino"}), {}, "openvino1", Unasked);
  ASSERT_TRUE(sides.ok());
  EXPECT_EQ(sides->reference, 1U);
  EXPECT_EQ(sides->candidate, 0U);
  EXPECT_FALSE(ChooseSides(PlanOf({"onnxruntime", "openvino"}), {}, "nosuch", Unasked).ok());
}

TEST(ChooseSides, SavedOutputsAreTheReference) {
  const auto sides = ChooseSides(PlanOf({"onnxruntime"}), {"gold"}, "", Unasked);
  ASSERT_TRUE(sides.ok());
  EXPECT_FALSE(sides->reference);
  EXPECT_FALSE(ChooseSides(PlanOf({"onnxruntime"}), {"gold"}, "onnxruntime0", Unasked).ok());
}

TEST(ChooseSides, NeedsExactlyTwoSides) {
  EXPECT_FALSE(ChooseSides(PlanOf({}), {"a", "b"}, "", Unasked).ok());
  EXPECT_FALSE(ChooseSides(PlanOf({"onnxruntime"}), {}, "", Unasked).ok());
  EXPECT_FALSE(ChooseSides(PlanOf({"onnxruntime", "openvino", "torch"}), {}, "", Unasked).ok());
}

Tensor Floats(std::vector<float> values) {
  const Dims dims = {static_cast<int64_t>(values.size())};
  return *Tensor::Copy(DType::kFloat32, dims, std::as_bytes(std::span(values)));
}

ErrorBound Bound() {
  ErrorBound bound;
  bound.rms = 1e-6;
  return bound;
}

TEST(JudgeTensor, InMultiplesOfTheBound) {
  const double times =
      JudgeTensor(Floats({1, 1, 1, 1}), Floats({1, 1, 1, 1.00002F}), Bound()).times;
  EXPECT_GT(times, 5);
  EXPECT_LT(times, 30);
  EXPECT_EQ(JudgeTensor(Floats({1, 2}), Floats({1, 2}), Bound()).times, 0);
}

TEST(JudgeTensor, NanThatBothHaveIsNoDifference) {
  EXPECT_LE(JudgeTensor(Floats({1, kNan, 3}), Floats({1, kNan, 3}), Bound()).times, 1);
  EXPECT_GT(JudgeTensor(Floats({1, kNan, 3}), Floats({1, kNan, 4}), Bound()).times, 1);
  EXPECT_TRUE(std::isinf(JudgeTensor(Floats({1, 2, 3}), Floats({1, kNan, 3}), Bound()).times));
}

TEST(JudgeTensor, InfinitiesOfOneSign) {
  EXPECT_LE(JudgeTensor(Floats({1, -kInfinity}), Floats({1, -kInfinity}), Bound()).times, 1);
  EXPECT_GT(JudgeTensor(Floats({1, -kInfinity}), Floats({1, kInfinity}), Bound()).times, 1);
}

TEST(JudgeTensor, OtherShapesCannotAgree) {
  EXPECT_TRUE(std::isinf(JudgeTensor(Floats({1, 2}), Floats({1, 2, 3}), Bound()).times));
}

TEST(RecordMagnitudes, TellsWhatFloat16WouldLose) {
  const MagnitudeRecord m = RecordMagnitudes(Floats({1e6F, 1, 1e-6F, 0, kNan}));
  EXPECT_EQ(m.nan_count, 1);
  EXPECT_EQ(m.largest, 1e6);
  EXPECT_EQ(m.float16_overflow, 0.25);
  EXPECT_EQ(m.float16_denormal, 0.25);
}

TEST(FirstNotFinite, AsCoordinates) {
  const Tensor flat = Floats({1, 2, 3, 4, kInfinity, 6});
  EXPECT_EQ(FirstNotFinite(*flat.Reshaped({2, 3})), (std::vector<int64_t>{1, 1}));
  EXPECT_TRUE(FirstNotFinite(Floats({1, 2})).empty());
}

}  // namespace
}  // namespace vernier
