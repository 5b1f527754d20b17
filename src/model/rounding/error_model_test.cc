#include "model/rounding/error_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "model/rounding/error_test_graphs.h"

namespace vernier {
namespace {

using namespace testing_model;

TEST(ErrorModelTest, ErrorsGrowWithTheRootOfTheLengthOfSums) {
  const ErrorPrediction short_sum = Predict(Linear(100)).at("y");
  const ErrorPrediction long_sum = Predict(Linear(100'000)).at("y");
  EXPECT_EQ(long_sum.longest_sum, 100'000);
  EXPECT_EQ(long_sum.layers, 1);
  EXPECT_GT(long_sum.rms, 10 * short_sum.rms);
  EXPECT_LT(long_sum.rms, 32 * short_sum.rms);
}

TEST(ErrorModelTest, TheSideThatComputesInAShorterTypeDecides) {
  const ErrorPrediction both = Predict(Linear(64)).at("y");
  const ErrorPrediction shorter = Predict(Linear(64), kInBFloat16).at("y");
  EXPECT_EQ(both.coarsest, DType::kFloat32);
  EXPECT_EQ(shorter.coarsest, DType::kBFloat16);
  EXPECT_LT(both.rms, 1e-5);
  EXPECT_GT(shorter.rms, 1e-3);
  EXPECT_LT(shorter.rms, 1e-2);
}

// Of weights and values that one side alone rounds; casts in the model are rounded by both.
TEST(ErrorModelTest, OneSidedRoundingMakesErrorsThatAreAlike) {
  const std::string graph = Linear(64) + Do("Cast", {"y"}, "h", Attribute("to", 16)) +
                            Do("Cast", {"h"}, "z", Attribute("to", 1));
  EXPECT_FALSE(Predict(graph).at("z").alike);
  EXPECT_TRUE(Predict(Linear(64), kInBFloat16).at("y").alike);
  EXPECT_TRUE(PredictFromDType(DType::kFloat32, kAsInModel, kAsInModel).alike)
      << "nothing is known of the weights";
}

TEST(ErrorModelTest, WhatIsOnlyCopiedHasNoError) {
  const std::string graph = Input("x", {4, 8}) + Do("Transpose", {"x"}, "t") +
                            Do("Relu", {"t"}, "r") + Do("ArgMax", {"r"}, "places");
  const ErrorPredictions errors = Predict(graph);
  EXPECT_EQ(errors.at("r").rms, 0);
  EXPECT_EQ(errors.at("places").rms, 0);
  EXPECT_FALSE(errors.at("places").steps);
}

TEST(ErrorModelTest, PlacesAreExactWhateverTheErrorsBefore) {
  const ErrorPrediction places = Predict(Linear(64) + Do("ArgMax", {"y"}, "p")).at("p");
  EXPECT_EQ(places.rms, 0);
  EXPECT_FALSE(places.steps);
}

TEST(ErrorModelTest, EqualValuesAreQuantisedEqually) {
  const std::string graph = Input("x", {4, 64}) + Weight("s", {}) + Weight("z", {}, kUint8) +
                            Do("QuantizeLinear", {"x", "s", "z"}, "q");
  EXPECT_EQ(Predict(graph).at("q").rms, 0);
}

TEST(ErrorModelTest, QuantisersTurnErrorsIntoRareSteps) {
  const std::string graph = Input("x", {4000, 64}) + Weight("w", {64, 8}) +
                            Do("MatMul", {"x", "w"}, "y") + Weight("s", {}) +
                            Weight("z", {}, kUint8) + Do("QuantizeLinear", {"y", "s", "z"}, "q") +
                            Do("DequantizeLinear", {"q", "s", "z"}, "d");
  const ErrorPredictions errors = Predict(graph);
  EXPECT_TRUE(errors.at("q").steps);
  const ErrorPrediction back = errors.at("d");
  EXPECT_FALSE(back.steps);
  EXPECT_EQ(back.quantisers, 1);
  EXPECT_EQ(back.clean, 0) << "elements that no step has reached are equal";
  EXPECT_GT(back.rms, 100 * errors.at("y").rms);
  EXPECT_GT(back.flips, 0.002);
  EXPECT_LT(back.flips, 0.2);
  EXPECT_LT(back.fresh, 1e-3) << "one or two of 32,000 elements";
}

// One side's model is the same without quantisers: what the other's steps do is no fault.
TEST(ErrorModelTest, StepsOfOneSideAreErrors) {
  const std::string graph = Input("x", {4, 64}) + Weight("s", {}) + Weight("z", {}, kUint8) +
                            Do("QuantizeLinear", {"x", "s", "z"}, "q") +
                            Do("DequantizeLinear", {"q", "s", "z"}, "d");
  RunnerArithmetic without;
  without.unquantised = true;
  const ErrorPrediction alone = Predict(graph, without).at("d");
  EXPECT_EQ(alone.one_sided, 1);
  EXPECT_GT(alone.rms, 0.005) << "a step of the 256th part of a range";
  EXPECT_LT(alone.rms, 0.1);
  EXPECT_EQ(alone.flips, 0);
}

// Both sides have these.
TEST(ErrorModelTest, RoundingFlipsWhereOneSideAloneHasQuantisers) {
  RunnerArithmetic without;
  without.unquantised = true;
  const std::string graph = Linear(64) + Do("Floor", {"y"}, "f");
  EXPECT_EQ(Predict(graph, without).at("f").one_sided, 0);
  EXPECT_EQ(Predict(graph, without).at("f").flips, Predict(graph).at("f").flips);
}

TEST(ErrorModelTest, WeightsInStepsOfOneSideAreErrors) {
  RunnerArithmetic without;
  without.unquantised = true;
  const std::string bytes = Input("x", {4, 64}) + Weight("w", {64, 8}, kUint8) + Weight("s", {}) +
                            Do("DequantizeLinear", {"w", "s"}, "wd") +
                            Do("MatMul", {"x", "wd"}, "y");
  EXPECT_LT(Predict(bytes).at("y").rms, 1e-5);
  EXPECT_GT(Predict(bytes, without).at("y").rms, 0.005);
  const std::string nibbles = Input("x", {4, 64}) + Weight("w", {8, 2, 16}, kUint8) +
                              Weight("s", {16}) + Do("MatMulNBits", {"x", "w", "s"}, "y");
  EXPECT_GT(Predict(nibbles, without).at("y").rms, 10 * Predict(bytes, without).at("y").rms);
}

// An operator that rounds to steps within itself: as a DynamicQuantizeLinear of its own on sides
// that do, and an error of a step where one side computes it in floats.
TEST(ErrorModelTest, StepsWithinOperators) {
  RunnerArithmetic floats;
  floats.floats_within = true;
  const std::string level = Attribute("accuracy_level", 4);
  const std::string product = Input("x", {4, 64}) + Weight("w", {64, 8}, kUint8) + Weight("s", {});
  const std::string recurrent =
      Input("x", {4, 1, 64}) + Weight("w", {1, 64, 32}, kUint8) + Weight("r", {1, 8, 32}, kUint8);
  for (const std::string& graph : {product + Do("DynamicQuantizeMatMul", {"x", "w", "s"}, "y"),
                                   product + Do("MatMulNBits", {"x", "w", "s"}, "y", level),
                                   recurrent + Do("DynamicQuantizeLSTM", {"x", "w", "r"}, "y")}) {
    const ErrorPrediction alone = Predict(graph, floats).at("y");
    EXPECT_EQ(alone.one_sided, 1);
    EXPECT_GT(alone.rms, 0.005);
    EXPECT_LT(alone.rms, 0.1);
    const ErrorPrediction both = Predict(graph).at("y");
    EXPECT_EQ(both.one_sided, 0);
    EXPECT_EQ(both.quantisers, 1);
    EXPECT_LT(both.rms, alone.rms);
  }
  const std::string exact = product + Do("MatMulNBits", {"x", "w", "s"}, "y");
  EXPECT_EQ(Predict(exact, floats).at("y").one_sided, 0);
  EXPECT_LT(Predict(exact, floats).at("y").rms, 1e-5);
}

// Two linear layers in float32 whose tensors are kept in bfloat16.
std::string TwoNarrowLayers() {
  const auto narrow = [](std::string_view from, const std::string& to) {
    return Do("Cast", {from}, to + "_short", Attribute("to", 16)) +
           Do("Cast", {to + "_short"}, to, Attribute("to", 1));
  };
  return Input("x", {32, 64}) + Weight("v", {64, 64}) + Weight("w", {64, 64}) +
         Do("MatMul", {"x", "v"}, "h_exact") + narrow("h_exact", "h") +
         Do("MatMul", {"h", "w"}, "y_exact") + narrow("y_exact", "y");
}

ErrorPredictions PredictAfter(const std::string& graph, std::optional<MeasuredError> found) {
  const OnnxModel model = *Parse(Model(graph));
  const std::string outputs[] = {"h", "y"};
  SeenOutputs seen;
  seen.measure = [&](const std::string&, const ErrorPrediction&) { return found; };
  return *PredictErrors(model, {}, kAsInModel, kAsInModel, outputs, FedInputs::kSame, seen);
}

TEST(ErrorModelTest, FewRoundedValuesDifferBetweenFaultlessSides) {
  const ErrorPrediction h = Predict(TwoNarrowLayers()).at("h");
  EXPECT_GT(h.flips, 0);
  EXPECT_LT(h.fresh, 0.01) << "so few of 2048 elements";
  const ErrorPrediction y = Predict(TwoNarrowLayers()).at("y");
  EXPECT_GT(y.reached, h.fresh) << "each of them reaches a row";
  EXPECT_LT(y.reached, 1);
}

TEST(ErrorModelTest, AnOutputThatAgreesMakesTheNextBoundTighter) {
  const ErrorPrediction blind = Predict(TwoNarrowLayers()).at("y");
  const ErrorPrediction after = PredictAfter(TwoNarrowLayers(), MeasuredError{}).at("y");
  EXPECT_LT(after.rms, blind.rms);
  EXPECT_EQ(after.since, "h");
  EXPECT_EQ(blind.since, "");
}

TEST(ErrorModelTest, AnOutputWithFlipsExplainsThoseBehindIt) {
  const ErrorPrediction clean = PredictAfter(TwoNarrowLayers(), MeasuredError{}).at("y");
  const MeasuredError flips = {.flipped = 2e-3, .reached = 0.2, .typical = 1e-7};
  const ErrorPrediction after = PredictAfter(TwoNarrowLayers(), flips).at("y");
  EXPECT_GT(after.rms, 2e-3);
  EXPECT_GT(after.reached, clean.reached + 0.1);
}

TEST(ErrorModelTest, AnOutputThatIsOffExcusesNothing) {
  const ErrorPrediction blind = Predict(TwoNarrowLayers()).at("y");
  const ErrorPrediction after = PredictAfter(TwoNarrowLayers(), std::nullopt).at("y");
  EXPECT_EQ(after.rms, blind.rms);
  EXPECT_EQ(after.reached, blind.reached);
}

TEST(ErrorModelTest, DepthAddsVariancesEvenThroughDiamonds) {
  // 100 residual blocks whose normalisation is spelled out, as exporters do.
  std::string graph = Input("t0", {4, 256}) + Weight("w", {256, 256}) + Weight("e", {});
  for (int i = 0; i < 100; ++i) {
    const std::string n = std::to_string(i), x = "t" + n;
    graph += Do("Mul", {x, x}, "square" + n) + Do("ReduceMean", {"square" + n}, "mean" + n) +
             Do("Add", {"mean" + n, "e"}, "more" + n) + Do("Sqrt", {"more" + n}, "root" + n) +
             Do("Div", {x, "root" + n}, "norm" + n) + Do("MatMul", {"norm" + n, "w"}, "f" + n) +
             Do("Add", {x, "f" + n}, "t" + std::to_string(i + 1));
  }
  const ErrorPredictions errors = Predict(graph);
  const ErrorPrediction first = errors.at("t1");
  const ErrorPrediction last = errors.at("t100");
  EXPECT_EQ(last.layers, 100);
  EXPECT_GT(last.rms, 5 * first.rms);
  EXPECT_LT(last.rms, 20 * first.rms);
}

TEST(ErrorModelTest, LengthsFollowFromTheSizesThatAreFed) {
  const std::string graph =
      Field(11, Value("x")) + Do("ReduceSum", {"x"}, "sum") + Do("MatMul", {"x", "x"}, "product");
  EXPECT_EQ(Predict(graph).at("sum").longest_sum, 1024) << "unknown";
  EXPECT_EQ(Predict(graph, kAsInModel, {{"x", {50'000, 3}}}).at("sum").longest_sum, 150'000);
}

TEST(ErrorModelTest, SizesAreFollowedThroughNewAxes) {
  const auto axes = [](uint64_t axis) {
    return Field(5, Field(1, "axes") + Number(8, axis) + Number(20, 7));
  };
  const std::string graph = Field(11, Value("x")) + Do("Unsqueeze", {"x"}, "wide", axes(1)) +
                            Do("ReduceSum", {"wide"}, "all") +
                            Do("Squeeze", {"wide"}, "narrow", axes(1)) +
                            Do("ReduceSum", {"narrow"}, "sum", axes(1));
  const ErrorPredictions errors = Predict(graph, kAsInModel, {{"x", {500, 3}}});
  EXPECT_EQ(errors.at("all").longest_sum, 1500);
  EXPECT_EQ(errors.at("sum").longest_sum, 3);
}

TEST(ErrorModelTest, ABicubicSampleHasMoreTermsThanABilinearOne) {
  const auto sample = [](std::string_view mode, std::string_view to) {
    const std::string attribute = Field(1, "mode") + Field(4, mode) + Number(20, 3);
    return Field(1, Node("GridSample", {"x", "g"}, {to}, Field(5, attribute)));
  };
  const ErrorPredictions errors = Predict(Input("x", {1, 1, 8, 8}) + Input("g", {1, 8, 8, 2}) +
                                          sample("bilinear", "two") + sample("bicubic", "four"));
  EXPECT_EQ(errors.at("two").longest_sum, 4);
  EXPECT_EQ(errors.at("four").longest_sum, 64);
}

TEST(ErrorModelTest, FramesOfOddLengthsAreTransformedLessExactly) {
  const auto transform = [](int64_t length) {
    return Predict(Input("x", {4, length, 1}) + Do("DFT", {"x"}, "y", Attribute("axis", 1)))
        .at("y");
  };
  EXPECT_EQ(transform(400).unknown, 0);
  EXPECT_EQ(transform(400).longest_sum, 400);
  // ONNX Runtime is 4.1e-5 off at 400, and 4.4e-7 at 512.
  EXPECT_GT(transform(400).rms, 1.2 * 4.1e-5);
  EXPECT_LT(transform(400).rms, 8 * 4.1e-5);
  EXPECT_LT(transform(512).rms, 1e-5);
  const std::string frames = Input("x", {1, 4000}) + Input("step", {}, kInt64) +
                             Weight("window", {400}) + Do("STFT", {"x", "step", "window"}, "y");
  EXPECT_EQ(Predict(frames).at("y").longest_sum, 400);
}

TEST(ErrorModelTest, OperatorsWithoutARuleAreCounted) {
  const std::string graph = Linear(64) + Do("Frobnicate", {"y"}, "z") + Do("Relu", {"z"}, "r");
  const ErrorPredictions errors = Predict(graph);
  EXPECT_EQ(errors.at("r").unknown, 1);
  EXPECT_GT(errors.at("r").rms, errors.at("y").rms);
}

TEST(ErrorModelTest, BodiesAreFollowed) {
  const std::string body =
      Field(1, Node("MatMul", {"y", "v"}, {"inner"})) + Field(12, Field(1, "inner"));
  const std::string branch = Field(1, "then_branch") + Field(6, body) + Number(20, 5);
  const std::string graph = Linear(64) + Weight("v", {8, 5000}) + Input("c", {}, 9) +
                            Do("If", {"c"}, "z", Field(5, branch));
  const ErrorPrediction inside = Predict(graph).at("z");
  EXPECT_GT(inside.rms, Predict(graph).at("y").rms);
  EXPECT_EQ(inside.layers, 2);
}

TEST(ErrorModelTest, Float16IsRoundedAtOutputsByThoseThatComputeInFloat32) {
  const std::string graph = Input("x", {4, 64}, kFloat16) + Weight("w", {64, 8}, kFloat16) +
                            Do("MatMul", {"x", "w"}, "y");
  const OnnxModel model = *Parse(Model(graph));
  const RunnerArithmetic wide{DType::kFloat32, false};
  const double rounded_inside = PredictErrors(model, {}, kAsInModel, wide)->at("y").rms;
  const double rounded_last = PredictErrors(model, {}, wide, wide)->at("y").rms;
  EXPECT_GT(rounded_inside, 2e-4);
  EXPECT_LT(rounded_last, rounded_inside);
  EXPECT_GT(rounded_last, 1e-6);
}

TEST(ErrorModelTest, CastsThatOneSideLeavesOutAreErrorsOfTheOther) {
  const std::string to_float16 = Attribute("to", kFloat16);
  const std::string graph = Input("x", {4, 64}) + Weight("w", {64, 4096}, kFloat16) +
                            Do("Cast", {"x"}, "h", to_float16) + Do("MatMul", {"h", "w"}, "y");
  const OnnxModel model = *Parse(Model(graph));
  const RunnerArithmetic whole{DType::kFloat32, false};
  const RunnerArithmetic by_casts{DType::kFloat32, true};
  EXPECT_GT(PredictErrors(model, {}, by_casts, whole)->at("y").rms, 3e-4);
  EXPECT_GT(PredictErrors(model, {}, whole, by_casts)->at("y").rms, 3e-4);
  EXPECT_LT(PredictErrors(model, {}, by_casts, by_casts)->at("y").rms, 2.5e-4);
  EXPECT_LT(PredictErrors(model, {}, whole, whole)->at("y").rms, 2.5e-4);
}

// A runtime that widens rounds what it hands out, and reads that; one that leaves out casts does
// not.
TEST(ErrorModelTest, OutputsOfShortTypesAreRoundedOnTheWay) {
  const std::string to_float16 = Attribute("to", kFloat16);
  const std::string graph = Input("x", {4, 64}) + Weight("w", {64, 64}, kFloat16) +
                            Weight("v", {64, 64}, kFloat16) + Do("Cast", {"x"}, "h", to_float16) +
                            Do("MatMul", {"h", "w"}, "y") + Do("MatMul", {"y", "v"}, "z");
  const OnnxModel model = *Parse(Model(graph));
  const RunnerArithmetic whole{DType::kFloat32, false};
  const RunnerArithmetic by_casts{DType::kFloat32, true};
  const auto of_z = [&](std::vector<std::string> outputs) {
    return PredictErrors(model, {}, by_casts, whole, outputs)->at("z").rms;
  };
  EXPECT_GT(of_z({"y", "z"}), 1.1 * of_z({"z"}));
}

TEST(ErrorModelTest, ACycleIsRefused) {
  const OnnxModel model = *Parse(Model(Do("Relu", {"a"}, "b") + Do("Relu", {"b"}, "a")));
  EXPECT_EQ(PredictErrors(model, {}, kAsInModel, kAsInModel).status().code(),
            StatusCode::kMalformed);
}

TEST(ErrorModelTest, WithoutAGraphTheDTypeDecides) {
  const double wide = PredictFromDType(DType::kFloat32, kAsInModel, kAsInModel).rms;
  const double narrow = PredictFromDType(DType::kFloat16, kAsInModel, kAsInModel).rms;
  EXPECT_GT(wide, 1e-5);
  EXPECT_LT(wide, 1e-3);
  EXPECT_GT(narrow, 1e-3);
  EXPECT_LT(narrow, 2e-2);
  EXPECT_EQ(PredictFromDType(DType::kInt64, kAsInModel, kAsInModel).rms, 0);
}

TEST(ErrorModelTest, SaturatedFunctionsAreExactToTheirRange) {
  const std::string graph = Linear(64) + Do("Sigmoid", {"y"}, "s") + Do("Reshape", {"s"}, "r") +
                            Do("Mul", {"r", "r"}, "m") + Do("ReduceMean", {"r"}, "a") +
                            Do("ReduceSum", {"r"}, "t");
  const ErrorPredictions errors = Predict(graph);
  EXPECT_EQ(errors.at("y").absolute, 0);
  EXPECT_GT(errors.at("s").absolute, 1e-7);
  EXPECT_LT(errors.at("s").absolute, 1e-6);
  EXPECT_EQ(errors.at("r").absolute, errors.at("s").absolute) << "copied";
  EXPECT_EQ(errors.at("a").absolute, errors.at("s").absolute) << "all values may err alike";
  EXPECT_EQ(errors.at("m").absolute, 0);
  EXPECT_EQ(errors.at("t").absolute, 0);
  // Where values are seen, it is part of the relative error, and goes on.
  const ErrorPredictions seen = PredictFromValues(graph, {{"s", {1e-5F, -1e-5F}}});
  EXPECT_EQ(seen.at("s").absolute, 0);
  EXPECT_GT(seen.at("s").rms, 0.01);
  EXPECT_GT(seen.at("m").rms, 0.01);
}

TEST(ErrorModelTest, ValuesThatCancelHaveLargerErrors) {
  const std::string graph = Linear(64) + Do("Neg", {"y"}, "n") + Do("Add", {"y", "n"}, "d");
  const double blind = Predict(graph).at("d").rms;
  const ErrorPredictions seen =
      PredictFromValues(graph, {{"y", {100, -100}}, {"n", {-99, 101}}, {"d", {1, 1}}});
  EXPECT_GT(seen.at("d").rms, 50 * blind);
  EXPECT_LT(seen.at("d").rms, 150 * blind);
  EXPECT_EQ(seen.at("y").rms, Predict(graph).at("y").rms);
}

TEST(ErrorModelTest, ALogarithmOfSmallValuesHasTheirCondition) {
  const std::string graph = Linear(64) + Do("Log", {"y"}, "l");
  const double blind = Predict(graph).at("l").rms;
  const ErrorPredictions seen = PredictFromValues(graph, {{"y", {1, 1e-3F}}, {"l", {0, -6.9F}}});
  EXPECT_GT(seen.at("l").rms, 20 * blind);
  EXPECT_LE(seen.at("l").rms, 1100 * seen.at("y").rms);
}

TEST(ErrorModelTest, RectifiedValuesAreMarkedAsSuch) {
  const std::string graph =
      Linear(64) + Do("Relu", {"y"}, "r") + Do("Reshape", {"r"}, "s") + Do("Sigmoid", {"s"}, "g");
  const ErrorPredictions errors = Predict(graph);
  EXPECT_FALSE(errors.at("y").rectified);
  EXPECT_TRUE(errors.at("s").rectified);
  EXPECT_TRUE(errors.at("s").thinned);
  EXPECT_FALSE(errors.at("g").rectified);
  const ErrorPredictions seen = PredictFromValues(graph, {{"y", {1, -1}}, {"r", {1, 0}}});
  EXPECT_TRUE(seen.at("r").rectified);
  EXPECT_FALSE(seen.at("r").thinned) << "the scale before it is known";
}

// It is a float that each side computes: one unit off, and so is everything that is read with it.
TEST(ErrorModelTest, ADynamicScaleHasAnErrorOfItsOwn) {
  const std::string graph =
      Linear(64) + Field(1, Node("DynamicQuantizeLinear", {"y"}, {"q", "scale", "zero"}, {})) +
      Do("DequantizeLinear", {"q", "scale", "zero"}, "d");
  const ErrorPredictions errors = Predict(graph);
  EXPECT_GT(errors.at("scale").rms, 1e-7);
  EXPECT_GT(errors.at("d").clean, 1e-7);
  EXPECT_LT(errors.at("d").clean, 1e-5);
}

}  // namespace
}  // namespace vernier
