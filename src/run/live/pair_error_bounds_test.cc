#include "run/live/pair_error_bounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <span>

#include "compare/outputs/tensor_for_test.h"
#include "model/onnx/onnx_test_model.h"
#include "model/rounding/error_test_graphs.h"
#include "run/live/predicted_bound.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

using namespace testing_model;

constexpr double kFloat32Roundoff = 0x1p-24;

CompareOptions Auto() {
  CompareOptions options;
  options.tolerance.fallback = ToleranceRule::kAuto;
  return options;
}

TensorMap Outputs(DType dtype = DType::kFloat32) {
  const std::vector<std::byte> ones(static_cast<size_t>(64 * BitsOf(dtype) / 8), std::byte{1});
  return {{"y", TensorForTest(dtype, {64}, ones)}};
}

TEST(PairErrorBoundsTest, OnlyOutputsThatAskForItHaveBounds) {
  EXPECT_TRUE(PairErrorBounds(Auto()).wanted());
  CompareOptions fixed;
  EXPECT_FALSE(PairErrorBounds(fixed).wanted());
  fixed.tolerance.entries.emplace_back("y", ToleranceRule::kAuto);
  EXPECT_TRUE(PairErrorBounds(fixed).wanted());
}

TEST(PairErrorBoundsTest, TheBoundIsEightTimesTheLargestNoise) {
  const CompareOptions options = Auto();
  PairErrorBounds bounds(options);
  bounds.AddNoise("y", 1e-4);
  bounds.AddNoise("y", 3e-4);
  bounds.AddNoise("y", 2e-4);
  const TensorMap outputs = Outputs();
  const ErrorBound* bound = bounds.For(0, 1, outputs, outputs).Find("y");
  ASSERT_NE(bound, nullptr);
  EXPECT_DOUBLE_EQ(bound->rms, 8 * 3e-4);
  EXPECT_EQ(bound->why, "measured, 8 times the noise 0.0003");
}

TEST(PairErrorBoundsTest, NoiseBelowSomeRoundingsCountsAsThose) {
  const CompareOptions options = Auto();
  PairErrorBounds bounds(options);
  bounds.AddNoise("y", 1e-9);
  const TensorMap wide = Outputs(), narrow = Outputs(DType::kFloat16);
  EXPECT_DOUBLE_EQ(bounds.For(0, 1, wide, wide).Find("y")->rms, 32 * kFloat32Roundoff);
  EXPECT_DOUBLE_EQ(bounds.For(2, 3, narrow, narrow).Find("y")->rms, 4 * 0x1p-11);
}

TEST(PairErrorBoundsTest, NoNoiseTellsNothing) {
  const CompareOptions options = Auto();
  PairErrorBounds measured(options), predicted(options);
  measured.AddNoise("y", 0);
  const TensorMap outputs = Outputs();
  const ErrorBound* bound = measured.For(0, 1, outputs, outputs).Find("y");
  EXPECT_DOUBLE_EQ(bound->rms, predicted.For(0, 1, outputs, outputs).Find("y")->rms);
  EXPECT_EQ(bound->why, "float32, graph not known, no noise measured");
}

// Both round a value between two floats, to either of them.
TEST(PairErrorBoundsTest, NoBoundIsBelowAUnitOfTheLargestElement) {
  const auto floats = [](const std::vector<float>& values) {
    return TensorForTest(DType::kFloat32, {static_cast<int64_t>(values.size())}, values);
  };
  const auto passes = [&](const std::vector<float>& a, const std::vector<float>& b) {
    const Tensor first = floats(a), second = floats(b);
    return MeasureAgainstBound(first, second, MakeBound(ErrorPrediction(), first, true))->passed;
  };
  const float next = std::nextafter(62.0F, 63.0F), second = std::nextafter(next, 63.0F);
  EXPECT_TRUE(passes({62}, {next}));
  EXPECT_TRUE(passes({next}, {62}));
  EXPECT_TRUE(passes({next, 1, 0}, {62, 1, 0}));
  EXPECT_FALSE(passes({62}, {second}));
  EXPECT_TRUE(passes({1}, {std::nextafter(1.0F, 2.0F)}));
  EXPECT_FALSE(passes({1e-3F, 1}, {2e-3F, 1}));
}

TEST(PairErrorBoundsTest, IntegersAreExactUnlessTheyAreNoisy) {
  const CompareOptions options = Auto();
  PairErrorBounds bounds(options);
  const TensorMap outputs = Outputs(DType::kInt32);
  EXPECT_EQ(bounds.For(0, 1, outputs, outputs).Find("y")->rms, 0);
  bounds.AddNoise("y", 1e-3);
  EXPECT_TRUE(bounds.For(0, 1, outputs, outputs).Find("y")->steps);
}

TEST(PairErrorBoundsTest, FlipsThatMayHaveReachedEverythingLeaveNoCleanElements) {
  ErrorPrediction prediction;
  prediction.rms = 1e-2;
  prediction.clean = 1e-6;
  prediction.step = 0.03;
  prediction.reached = 0.25;
  prediction.fresh = 0.05;
  const Tensor tensor = Outputs()[0].tensor;
  const ErrorBound some = MakeBound(prediction, tensor, true);
  EXPECT_DOUBLE_EQ(some.allowed, 0.3);
  EXPECT_DOUBLE_EQ(some.clean, 1e-6);
  prediction.reached = 0.95;
  EXPECT_EQ(MakeBound(prediction, tensor, true).clean, 0) << "not looked at";
}

// How many flips are expected is known to a factor: of few rows, one more may have some.
TEST(PairErrorBoundsTest, OfFewRowsOneMoreMayHaveFlips) {
  const Tensor tensor = Floats({12, 8}, std::vector<float>(96, 1.0F));
  ErrorPrediction prediction;
  prediction.clean = 1e-6;
  prediction.step = 0.03;
  prediction.reached = 1.0 / 12;
  prediction.flips = 1e-4;
  EXPECT_DOUBLE_EQ(MakeBound(prediction, tensor, true).allowed, 1.0 / 12) << "one is rare enough";
  prediction.flips = 0.05;
  EXPECT_DOUBLE_EQ(MakeBound(prediction, tensor, true).allowed, 2.0 / 12);
  prediction.reached = 0.85;
  EXPECT_DOUBLE_EQ(MakeBound(prediction, tensor, true).allowed, 0.85) << "all others are left";
  prediction.reached = 0;
  EXPECT_EQ(MakeBound(prediction, tensor, true).allowed, 0)
      << "nothing is measured to have flipped";
}

TEST(PairErrorBoundsTest, ChoicesLeaveTheBoundOfAllOtherElements) {
  ErrorPrediction prediction;
  prediction.rms = 1e-5;
  const Tensor tensor = Outputs()[0].tensor;
  const double rms = MakeBound(prediction, tensor, true).rms;
  prediction.chosen = 0.25;
  const ErrorBound bound = MakeBound(prediction, tensor, true);
  EXPECT_GE(bound.rms, 2);
  EXPECT_DOUBLE_EQ(bound.within, rms);
  EXPECT_DOUBLE_EQ(bound.clean, kElementTimes * rms);
  prediction.clean = 1e-6;
  prediction.step = 0.03;
  EXPECT_DOUBLE_EQ(MakeBound(prediction, tensor, true).clean, 1e-6) << "the tighter one stays";
}

// Two layers whose tensors are kept in bfloat16, and the first one's result is an output, too.
std::string NarrowGraph() {
  const auto cast = [](std::string_view from, std::string_view to, uint64_t type) {
    const std::string attribute = Field(1, "to") + Number(3, type) + Number(20, 2);
    return Field(1, Node("Cast", {from}, {to}, Field(5, attribute)));
  };
  const auto weight = [](std::string_view name) {
    return Field(5, Number(1, 64) + Number(1, 64) + Number(2, 1) + Field(8, name));
  };
  const auto value = [](std::string_view name) {
    const std::string dims = Field(1, Number(1, 32)) + Field(1, Number(1, 64));
    return Field(1, name) + Field(2, Field(1, Number(1, 1) + Field(2, dims)));
  };
  return weight("v") + weight("w") + Field(11, value("x")) + Field(12, value("y")) +
         Field(12, value("h")) + Field(1, Node("MatMul", {"x", "v"}, {"h1"})) +
         cast("h1", "h2", 16) + cast("h2", "h", 1) + Field(1, Node("MatMul", {"h", "w"}, {"y1"})) +
         cast("y1", "y2", 16) + cast("y2", "y", 1);
}

// Of h, the first `off` elements have the error.
TensorMap TwoOutputs(float error_of_h, size_t off = size_t{32} * 64) {
  std::vector<float> values(32 * 64);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i)) + 2;
  const Tensor y = Floats({32, 64}, values);
  for (size_t i = 0; i < off; ++i) values[i] *= i % 2 ? 1 + error_of_h : 1 - error_of_h;
  return {{"y", y}, {"h", Floats({32, 64}, values)}};
}

TEST(PairErrorBoundsTest, NoiseAsLargeAsAStepHidesFlips) {
  const std::vector<float> values(100, 1.0F);
  const Tensor tensor = *Tensor::Copy(DType::kFloat32, {100}, std::as_bytes(std::span(values)));
  ErrorPrediction prediction;
  prediction.step = 1e-3;
  prediction.clean = 1e-5;
  EXPECT_GT(MakeBound(prediction, tensor, true).clean, 0);
  prediction.clean = 7e-4;
  EXPECT_EQ(MakeBound(prediction, tensor, true).clean, 0) << "not looked at";
}

TEST(PairErrorBoundsTest, WhatIsFoundOnAnOutputTellsOfTheNext) {
  const auto model = std::make_shared<const OnnxModel>(*Parse(Model(NarrowGraph())));
  const CompareOptions options = Auto();
  PairErrorBounds bounds(options);
  for (const size_t stream : {size_t{0}, size_t{1}})
    bounds.AddGraph(stream, {model, "model.onnx", {}, {}});
  const TensorMap a = TwoOutputs(0);
  const ErrorBound good = *bounds.For(0, 1, a, a).Find("y");
  EXPECT_NE(good.why.find("counted from 'h'"), std::string::npos) << good.why;
  EXPECT_EQ(good.largest, 0);
  // What single elements of it are off by goes on to what is made from it.
  const ErrorBound tailed = *bounds.For(0, 1, a, TwoOutputs(2e-4f, 1)).Find("y");
  EXPECT_EQ(tailed.since, "h");
  EXPECT_GT(tailed.largest, 1e-4);
  // An output that is off itself tells nothing: the bound is that of the inputs.
  const TensorMap off = TwoOutputs(0.02f);
  const ErrorBound blind = *bounds.For(0, 1, a, off).Find("y");
  EXPECT_EQ(blind.why.find("counted from"), std::string::npos) << blind.why;
  EXPECT_EQ(blind.largest, 0);
  EXPECT_LT(good.rms, blind.rms);
}

TEST(PairErrorBoundsTest, BoundsAreFirmOfPreciseRunnersAlone) {
  const CompareOptions options;
  PairErrorBounds bounds(options);
  RunnerGraph precise;
  precise.is_precise = true;
  bounds.AddGraph(0, precise);
  bounds.AddGraph(1, precise);
  bounds.AddGraph(2, RunnerGraph());
  bounds.AddUnquantised(3);  // saved outputs
  EXPECT_TRUE(bounds.AreFirm(0, 1));
  EXPECT_FALSE(bounds.AreFirm(0, 2));
  EXPECT_FALSE(bounds.AreFirm(2, 1));
  EXPECT_FALSE(bounds.AreFirm(0, 3));
  EXPECT_FALSE(bounds.AreFirm(0, 4));
}

// Of the first row one value is the best, of the second two tie.
TEST(PairErrorBoundsTest, PlacesThatTieWithNothingAreNotExcused) {
  const std::string graph = Input("x", {2, 64}) + Weight("w", {64, 3}) +
                            Do("MatMul", {"x", "w"}, "y") +
                            Do("ArgMax", {"y"}, "best", Attribute("axis", 1));
  const auto model = std::make_shared<const OnnxModel>(*Parse(Model(graph)));
  const CompareOptions options = Auto();
  PairErrorBounds bounds(options);
  for (const size_t stream : {size_t{0}, size_t{1}})
    bounds.AddGraph(stream, {model, "model.onnx", {}, {}});
  const Tensor y = Floats({2, 3}, {3, 1, 2, 2, 2.000001F, 0});
  const auto side = [&](const std::vector<int64_t>& places) -> TensorMap {
    const auto bytes = std::as_bytes(std::span(places));
    return {{"y", y}, {"best", *Tensor::Copy(DType::kInt64, {2, 1}, bytes)}};
  };
  const TensorMap a = side({0, 1});
  const auto passes = [&](const std::vector<int64_t>& places) {
    const TensorMap b = side(places);
    return MeasureAgainstBound(a[1].tensor, b[1].tensor, *bounds.For(0, 1, a, b).Find("best"))
        ->passed;
  };
  EXPECT_TRUE(passes({0, 1}));
  EXPECT_TRUE(passes({0, 0}));
  EXPECT_FALSE(passes({0, 2})) << "the least of its row";
  EXPECT_FALSE(passes({2, 1})) << "the row without a tie";
}

TEST(PairErrorBoundsTest, ANoteNamesTheProcessorOfQuantisedModelsAlone) {
  const CompareOptions options;
  PairErrorBounds bounds(options);
  RunnerGraph plain;
  plain.in_bytes = true;
  bounds.AddGraph(0, plain);
  std::vector<std::string> notes;
  bounds.NoteProcessor({.vnni = false}, notes);
  EXPECT_TRUE(notes.empty()) << "nothing is known to be quantised";
  RunnerGraph quantised = plain;
  quantised.has_quantisers = true;
  bounds.AddGraph(0, std::move(quantised));
  bounds.NoteProcessor({.vnni = true}, notes);
  EXPECT_TRUE(notes.empty());
  bounds.NoteProcessor({.vnni = false}, notes);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("no VNNI"), std::string::npos);
}

TEST(PairErrorBoundsTest, KernelsOfFreeSizesAreNamedForQuantisedModelsOfOpenVino) {
  const CompareOptions options;
  for (const int other : {0, 1, 2, 3}) {
    PairErrorBounds bounds(options);
    RunnerGraph graph;
    graph.model_path = "m.onnx";
    graph.in_bytes = other != 1;
    graph.leaves_sizes_open = other != 2;
    graph.has_quantisers = other != 3;
    bounds.AddGraph(0, std::move(graph));
    std::vector<std::string> notes;
    bounds.NoteFreeSizes(notes);
    ASSERT_EQ(notes.size(), other == 0 ? 1U : 0U);
    if (!notes.empty()) {
      EXPECT_NE(notes[0].find("--openvino-shapes static"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace vernier
