#include "model/rounding/passed_on.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "model/rounding/error_test_graphs.h"

namespace vernier {
namespace {

using namespace testing_model;

// What is predicted where both sides have these outputs, and those that fail are named.
ErrorPredictions PredictBoth(const std::string& graph, const std::vector<SeenTensor>& of_a,
                             const std::vector<SeenTensor>& of_b, std::string_view failing = {},
                             const std::vector<SeenTensor>& fed = {}) {
  const auto as_map = [](const std::vector<SeenTensor>& tensors) {
    TensorMap map;
    for (const auto& [name, elements, dims] : tensors) {
      map.push_back({name, SeenValues(elements, dims)});
    }
    return map;
  };
  const TensorMap a = as_map(of_a), b = as_map(of_b), inputs = as_map(fed);
  std::vector<std::string> names;
  for (const NamedTensor& tensor : a) names.push_back(tensor.name);
  SeenOutputs seen;
  seen.values = [&](std::string_view name) { return Find(a, name); };
  seen.others = [&](std::string_view name) { return Find(b, name); };
  seen.fed = [&](std::string_view name) { return Find(inputs, name); };
  seen.passes = [&](const std::string& name, const ErrorPrediction&) { return name != failing; };
  const OnnxModel model = *Parse(Model(graph));
  return *PredictErrors(model, {}, kAsInModel, kAsInModel, names, FedInputs::kSame, seen);
}

// Codes around a zero point of 128, which MatMulInteger subtracts.
const std::string kIntegerProduct =
    Input("x", {1, 4}) + Weight("w0", {4, 4}) + WeightOf("w", {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}) +
    Do("MatMul", {"x", "w0"}, "p") +
    Field(1, Node("DynamicQuantizeLinear", {"p"}, {"q", "s", "z"})) +
    Do("MatMulInteger", {"q", "w", "z"}, "y") + Do("Identity", {"y"}, "end");

std::vector<SeenTensor> ProductSeen(float code, float sum) {
  return {{"p", {0.1F, 0.2F, -0.1F, 0.3F}, {1, 4}},
          {"q", {130, 132, code, 134}, {1, 4}},
          {"s", {0.05F}, {}},
          {"z", {128}, {}},
          {"y", {sum, sum + 12}, {1, 2}}};
}

TEST(PassedOnTest, AFlippedCodeMovesSumsByItsWeightsBesideWhatTheZeroPointLeaves) {
  const auto same = PredictBoth(kIntegerProduct, ProductSeen(126, 30), ProductSeen(126, 30));
  const auto flipped = PredictBoth(kIntegerProduct, ProductSeen(126, 30), ProductSeen(127, 35));
  const double scale = std::sqrt((30 * 30 + 42 * 42) / 2.0);
  const double moved = std::sqrt((5 * 5 + 6 * 6) / 2.0) / scale;
  EXPECT_GE(flipped.at("y").rms, 1.5 * moved);
  EXPECT_LT(same.at("y").rms, moved);
  EXPECT_DOUBLE_EQ(flipped.at("y").largest, 6 / scale);
}

TEST(PassedOnTest, WhatFailsExcusesNothing) {
  const auto seen = [](std::string_view failing) {
    return PredictBoth(kIntegerProduct, ProductSeen(126, 30), ProductSeen(90, 30), failing);
  };
  EXPECT_GT(seen("").at("y").rms, 10 * seen("q").at("y").rms);
}

// A zero point, which says that codes are bytes.
std::string ByteOf(std::string_view name, char value) {
  const std::string_view raw(&value, 1);
  return Field(5, Number(2, kUint8) + Field(8, name) + Field(9, raw));
}

const std::string kSteps = Input("x", {1, 4}) + Weight("w0", {4, 4}) + WeightOf("s", {}, {0.5F}) +
                           ByteOf("z", static_cast<char>(200)) + Do("MatMul", {"x", "w0"}, "p") +
                           Do("QuantizeLinear", {"p", "s", "z"}, "q") +
                           Do("DequantizeLinear", {"q", "s", "z"}, "y") +
                           Do("Identity", {"y"}, "end");

std::vector<SeenTensor> StepsSeen(float p, float q) {
  return {{"p", {1, -1, 2, p}, {1, 4}},
          {"q", {202, 198, 204, q}, {1, 4}},
          {"y", {1, -1, 2, (q - 200) / 2}, {1, 4}}};
}

TEST(PassedOnTest, ADequantisedStepIsLargeBesideTheValues) {
  const auto seen = PredictBoth(kSteps, StepsSeen(0.75F, 201), StepsSeen(0.75F, 202));
  const double step = 0.5 / std::sqrt((1 + 1 + 4 + 0.625) / 4);
  EXPECT_NEAR(seen.at("y").largest, step, 1e-3 * step);
  EXPECT_GE(seen.at("y").rms, step / 2);
  EXPECT_GE(seen.at("y").reached + seen.at("y").fresh, 0.25);
}

// A flipped code comes out of it as large as it went in, on a scale that is smaller.
TEST(PassedOnTest, ARectifierThatLeaksPassesOnWhatItKeeps) {
  const std::string graph =
      kSteps + Do("LeakyRelu", {"y"}, "leaky") + Do("Identity", {"leaky"}, "last");
  const auto seen = [](float p, float q) {
    std::vector<SeenTensor> tensors = {{"p", {-100, -100, -100, p}, {1, 4}},
                                       {"q", {0, 0, 0, q}, {1, 4}},
                                       {"y", {-100, -100, -100, (q - 200) / 2}, {1, 4}}};
    tensors.push_back({"leaky", {-1, -1, -1, (q - 200) / 2}, {1, 4}});
    return tensors;
  };
  const auto errors = PredictBoth(graph, seen(0.75F, 201), seen(0.75F, 202));
  const double step = 0.5 / std::sqrt((1 + 1 + 1 + 0.25) / 4);
  EXPECT_GE(errors.at("leaky").rms, step / 2 * 0.99);
}

// Averages of codes lie on a grid: where that meets the ends of steps, more flip than do elsewhere.
TEST(PassedOnTest, ValuesAtTheEndOfAStepMayGoToEither) {
  const auto clear = PredictBoth(kSteps, StepsSeen(0.6F, 201), StepsSeen(0.6F, 201));
  const auto tied = PredictBoth(kSteps, StepsSeen(0.75F, 202), StepsSeen(0.75F, 202));
  EXPECT_LT(clear.at("q").fresh, 0.25);
  EXPECT_GE(tied.at("q").fresh, 0.25);
  EXPECT_GT(tied.at("q").rms, clear.at("q").rms);
}

TEST(PassedOnTest, ProductsPassOnWhatTheirFactorsDifferBy) {
  const std::string graph = kSteps + WeightOf("gates", {1, 4}, {0.1F, 0.1F, 0.1F, 9}) +
                            Do("Mul", {"y", "gates"}, "gated") + Do("Identity", {"gated"}, "last");
  const auto with_gates = [](std::vector<SeenTensor> seen, float last) {
    seen.push_back({"gated", {0.1F, -0.1F, 0.2F, last}, {1, 4}});
    return seen;
  };
  const auto seen = PredictBoth(graph, with_gates(StepsSeen(0.75F, 201), 4.5F),
                                with_gates(StepsSeen(0.75F, 202), 9));
  const double scale = std::sqrt((4.5 * 4.5 + 81) / 8);
  EXPECT_GE(seen.at("gated").rms, 4.5 / 2 / scale);
}

// Neighbours of a truth are no step apart: each one that differs counts.
TEST(PassedOnTest, ACastToTruthsAllowsNoStep) {
  const auto steps = [](uint64_t type) {
    return Predict(Input("x", {4, 64}) + Weight("w", {64, 8}) + Do("MatMul", {"x", "w"}, "p") +
                   Do("Cast", {"p"}, "y", Attribute("to", type)))
        .at("y")
        .steps;
  };
  EXPECT_TRUE(steps(kInt64));
  EXPECT_FALSE(steps(kBool));
}

// The largest of two is the one that a step went to, and all of the difference is in it.
TEST(PassedOnTest, TheLargestOfAWindowMayBeTheOneThatDiffers) {
  const auto rms = [](uint64_t stride) {
    const std::string pooled =
        Input("x", {1, 1, 4}) + WeightOf("s", {}, {0.5F}) + ByteOf("z", static_cast<char>(200)) +
        Do("QuantizeLinear", {"x", "s", "z"}, "q") + Do("DequantizeLinear", {"q", "s", "z"}, "y") +
        Do("MaxPool", {"y"}, "m", Ints("kernel_shape", 2) + Ints("strides", stride));
    const auto seen = [](float code) {
      return std::vector<SeenTensor>{{"q", {202, 198, 204, code}, {1, 1, 4}},
                                     {"y", {1, -1, 2, (code - 200) / 2}, {1, 1, 4}},
                                     {"m", {1, std::max(2.F, (code - 200) / 2)}, {1, 1, 2}}};
    };
    return PredictBoth(pooled + Do("Identity", {"m"}, "end"), seen(204), seen(205)).at("m").rms;
  };
  const double scale = std::sqrt((1 + 4) / 2.0);
  EXPECT_GE(rms(2), std::sqrt(0.25 / 2) / scale);
  EXPECT_LT(rms(1), rms(2)) << "windows that overlap have no rule";
}

// Wherever it is: the values of both sides alone count.
TEST(PassedOnTest, ExtremesDifferByWhatTheLargestOrSmallestDiffer) {
  const std::vector<float> a = {1, 5, 3, 4, 2, 0}, b = {1, 2, 6, 4, 2, -1};
  const auto largest = Passed(Do("ReduceMax", {"x"}, "m", Ints("axes", 1)), a, b);
  ASSERT_TRUE(largest);
  // 5 and 4 of the one, 6 and 4 of the other.
  const double scale = std::sqrt((25 + 16 + 36 + 16) / 4.0);
  EXPECT_NEAR(largest->rms, std::sqrt(0.5) / scale, 1e-6);
  EXPECT_NEAR(largest->largest, 1 / scale, 1e-6);
  const auto smallest = Passed(Do("ReduceMin", {"x"}, "m"), a, b);
  ASSERT_TRUE(smallest);
  EXPECT_NEAR(smallest->largest, std::sqrt(2), 1e-6) << "0 and -1 of all";
  const std::string two = WeightOf("k", {1}, {2}) + Field(1, Node("TopK", {"x", "k"}, {"m", "at"}));
  const auto top = Passed(two, a, b);
  ASSERT_TRUE(top);
  // 5, 3, 4 and 2 of the one, 6, 2, 4 and 2 of the other.
  EXPECT_NEAR(top->rms, std::sqrt(0.5) / std::sqrt((54 + 60) / 8.0), 1e-6);
  const auto pairs = Passed(WeightOf("w", {}, {4}) + Do("Max", {"x", "w"}, "m"), a, b);
  ASSERT_TRUE(pairs);
  EXPECT_NEAR(pairs->largest * std::sqrt((25 + 80 + 36 + 80) / 12.0), 2, 1e-6);
}

// 0.01 (q - 250) as 0.01 q - 2.5: the rounding of 2.5 is large beside what is left.
TEST(PassedOnTest, AZeroPointMayBeSubtractedFromProducts) {
  const auto rms = [](float zero) {
    const std::string graph = WeightOf("q", {4}, {251, 249, 252, 250}) +
                              WeightOf("s", {}, {0.01F}) + WeightOf("z", {}, {zero}) +
                              Do("DequantizeLinear", {"q", "s", "z"}, "y");
    return Predict(graph).at("y").rms;
  };
  EXPECT_EQ(rms(0), 0);
  EXPECT_NEAR(rms(250) / rms(240), 204.1 / 22.7, 0.5) << "as the values that are left";
}

// Floor makes whole numbers; what casts them makes no steps of its own.
TEST(PassedOnTest, ACastOfWholeNumbersAddsNoFlips) {
  const std::string to = Attribute("to", kInt64);
  const std::string graph = Linear(64) + Do("Floor", {"y"}, "f") + Do("Cast", {"f"}, "whole", to) +
                            Do("Cast", {"y"}, "cut", to) + Do("Cast", {"cut"}, "same", to);
  const ErrorPredictions errors = Predict(graph, kInBFloat16);
  EXPECT_TRUE(errors.at("whole").steps);
  EXPECT_DOUBLE_EQ(errors.at("whole").flips, errors.at("f").flips);
  EXPECT_EQ(errors.at("whole").quantisers, 1);
  EXPECT_EQ(errors.at("cut").quantisers, 1);
}

TEST(PassedOnTest, WholeFloatsAreAddedWithoutRounding) {
  const std::string graph = Input("ids", {1, 3}) + WeightOf("one", {}, {1}) +
                            WeightOf("half", {}, {0.3F}) + Do("Add", {"ids", "one"}, "next") +
                            Do("Cast", {"next"}, "index", Attribute("to", kInt64)) +
                            Do("Add", {"ids", "half"}, "between");
  const auto predict = [&](float id) {
    return PredictBoth(graph, {}, {}, "", {{"ids", {3, 70, id}, {1, 3}}});
  };
  EXPECT_EQ(predict(5).at("next").rms, 0);
  EXPECT_EQ(predict(5).at("index").rms, 0);
  EXPECT_FALSE(predict(5).at("index").steps);
  EXPECT_GT(predict(5).at("between").rms, 0);
  EXPECT_GT(predict(5.5F).at("next").rms, 0);
  EXPECT_GT(predict(0x1p25F).at("next").rms, 0) << "beyond what float32 counts";
}

TEST(PassedOnTest, OwnOperatorsOfOnnxRuntimeGiveCodes) {
  const std::string graph = Linear(64) + WeightOf("s", {}, {0.5F}) + Weight("z", {}, kUint8) +
                            Do("QuantizeLinear", {"y", "s", "z"}, "q") +
                            Do("QLinearLeakyRelu", {"q", "s", "z", "s", "z"}, "r");
  EXPECT_TRUE(Predict(graph).at("r").steps);
}

TEST(PassedOnTest, AMirroredBorderHasItsFlipsTwice) {
  const std::string mode = Field(5, Field(1, "mode") + Field(4, "reflect") + Number(20, 3));
  const std::string graph =
      kSteps + Do("Pad", {"y", "pads"}, "mirrored", mode) + Do("Pad", {"y", "pads"}, "zeros");
  const ErrorPredictions errors = Predict(graph);
  EXPECT_NEAR(errors.at("mirrored").fresh, 2 * errors.at("zeros").fresh, 1e-12);
}

// Gates that are open by half, and a cell that reads x: the second step is between two codes.
const std::string kByteLstm =
    Input("x", {2, 1, 1}) + WeightOf("w", {1, 1, 4}, {0, 0, 0, 1}) +
    WeightOf("r", {1, 1, 4}, {0, 0, 0, 0}) + WeightOf("one", {1}, {1}) +
    WeightOf("zero", {1}, {0}) +
    Do("DynamicQuantizeLSTM", {"x", "w", "r", "", "", "", "", "", "one", "zero", "one", "zero"},
       "y") +
    Do("Identity", {"y"}, "end");

ErrorPredictions PredictLstm(const std::string& graph, bool floats_alone) {
  RunnerArithmetic floats;
  floats.floats_within = true;
  const Tensor x = SeenValues({1, 0.5F}, {2, 1, 1});
  SeenOutputs seen;
  seen.fed = [&](std::string_view name) { return name == "x" ? &x : nullptr; };
  seen.passes = [](const std::string&, const ErrorPrediction&) { return true; };
  const OnnxModel model = *Parse(Model(graph));
  return *PredictErrors(model, {}, kAsInModel, floats_alone ? floats : kAsInModel, {},
                        FedInputs::kSame, seen);
}

TEST(PassedOnTest, AnLstmThatOneSideRoundsWithinErrsByWhatThatMakes) {
  const double first = std::tanh(1) / 2;
  const auto second = [&](double x) { return std::tanh(first / 2 + std::tanh(x) / 2) / 2; };
  const double moved = second(128 / 255.0) - second(0.5);
  const double y0 = std::tanh(first) / 2, y1 = second(0.5);
  const double scale = std::sqrt((y0 * y0 + y1 * y1) / 2);
  const ErrorPrediction y = PredictLstm(kByteLstm, true).at("y");
  EXPECT_NEAR(y.largest, moved / scale, 0.01 * moved / scale);
  EXPECT_NEAR(y.rms, 1.25 * moved / std::sqrt(2) / scale, 0.05 * y.rms);
  EXPECT_EQ(y.one_sided, 1);
  EXPECT_EQ(y.reached, 1) << "no share of the elements is left without";
}

// What is not computed keeps the rule's bound: here peepholes.
TEST(PassedOnTest, AnLstmOfAnotherKindHasTheBoundOfTheRule) {
  const std::string peepholes =
      Input("x", {2, 1, 1}) + WeightOf("w", {1, 1, 4}, {0, 0, 0, 1}) +
      WeightOf("r", {1, 1, 4}, {0, 0, 0, 0}) + WeightOf("p", {1, 3}, {0, 0, 0}) +
      WeightOf("one", {1}, {1}) + WeightOf("zero", {1}, {0}) +
      Do("DynamicQuantizeLSTM", {"x", "w", "r", "", "", "", "", "p", "one", "zero", "one", "zero"},
         "y");
  EXPECT_GT(PredictLstm(peepholes, true).at("y").rms, 5 * PredictLstm(kByteLstm, true).at("y").rms);
}

TEST(PassedOnTest, APartMayDifferByMoreThanTheWhole) {
  const std::string graph =
      kSteps + WeightOf("last", {1}, {3}) +
      Field(1, Node("Gather", {"y", "last"}, {"part"}, Attribute("axis", 1))) +
      Do("Identity", {"part"}, "last_end");
  const auto with_part = [](float q, float part) {
    std::vector<SeenTensor> seen = StepsSeen(0.75F, q);
    seen.push_back({"part", {part}, {1, 1}});
    return seen;
  };
  const auto seen = PredictBoth(graph, with_part(201, 0.5F), with_part(202, 1));
  EXPECT_GE(seen.at("part").rms, 0.5 / std::sqrt((0.25 + 1) / 2));
}

// All differences go the same way, and their sums further than those of independent ones.
TEST(PassedOnTest, DifferencesOfOneSignAddUp) {
  std::vector<float> ones(64, 1), low(64, 10), high(64, 11);
  const std::string graph = Input("x", {1, 64}) + Weight("w0", {64, 64}) + WeightOf("s", {}, {1}) +
                            WeightOf("w", {64, 1}, ones) + Do("MatMul", {"x", "w0"}, "p") +
                            Do("QuantizeLinear", {"p", "s"}, "q") +
                            Do("DequantizeLinear", {"q", "s"}, "d") +
                            Do("MatMul", {"d", "w"}, "y") + Do("Identity", {"y"}, "end");
  const auto seen = [](const std::vector<float>& values, float sum) {
    return std::vector<SeenTensor>{{"p", values, {1, 64}},
                                   {"q", values, {1, 64}},
                                   {"d", values, {1, 64}},
                                   {"y", {sum}, {1, 1}}};
  };
  const auto moved = PredictBoth(graph, seen(low, 640), seen(high, 704));
  EXPECT_GE(moved.at("y").rms, 64.0 / 640);
}

// What is predicted behind `node`, which makes "y" of codes as they are dequantised ("d"): one of
// them is a step larger on the other side.
ErrorPredictions PredictBehindFlip(const std::string& node, const std::vector<float>& codes,
                                   const Dims& dims, std::optional<size_t> place,
                                   const SeenTensor& y) {
  const std::string graph = Input("x", dims) + WeightOf("s", {}, {1}) + Do("Relu", {"x"}, "p") +
                            Do("QuantizeLinear", {"p", "s"}, "q") +
                            Do("DequantizeLinear", {"q", "s"}, "d") + node +
                            Do("Identity", {"y"}, "end");
  const auto seen = [&](const std::vector<float>& values) {
    return std::vector<SeenTensor>{{"q", values, dims}, {"d", values, dims}, y};
  };
  std::vector<float> flipped = codes;
  if (place) ++flipped[*place];
  return PredictBoth(graph, seen(codes), seen(flipped));
}

TEST(PassedOnTest, APartOfASplitMayDifferByMoreThanTheWhole) {
  const std::string node = Field(1, Node("Split", {"d"}, {"first", "y"}, Attribute("axis", 1)));
  const auto errors = PredictBehindFlip(node, {2, 2, 4, 1}, {1, 4}, 3, {"y", {4, 1}, {1, 2}});
  EXPECT_GE(errors.at("y").rms, 1 / std::sqrt(2) / std::sqrt((16 + 1 + 16 + 4) / 4.0));
  EXPECT_GT(errors.at("y").rms, errors.at("d").rms);
}

TEST(PassedOnTest, ANormalisationPassesOnWhatOneFlipMakesOfItsRun) {
  const std::string node =
      WeightOf("scale", {4}, {0, 0, 0, 1}) + Do("LayerNormalization", {"d", "scale"}, "y");
  const auto rms = [&](std::optional<size_t> place) {
    const std::vector<float> codes = {2, 0, 4, 1};
    return PredictBehindFlip(node, codes, {1, 4}, place, {"y", {0, 0, 0, 0}, {1, 4}}).at("y").rms;
  };
  // The value that the scale leaves goes from -0.5 of a deviation to the mean.
  EXPECT_GT(rms(3), 1);
  EXPECT_GT(rms(3), 1.2 * rms(std::nullopt));
}

// Of 64 rows one is undecided, and the flip is in that one: it moves more than flips on average do.
TEST(PassedOnTest, ASoftmaxPassesOnWhatAFlipMakesOfItsRow) {
  std::vector<float> codes(256, 1), made(256, 0);
  for (size_t i = 4; i < 256; i += 4) codes[i] = 41, made[i] = 1;
  made[0] = made[1] = made[2] = made[3] = 0.25F;
  const std::string node = Field(1, Node("Softmax", {"d"}, {"y"}, Attribute("axis", 1)));
  const auto y = PredictBehindFlip(node, codes, {64, 4}, 3, {"y", made, {64, 4}}).at("y");
  EXPECT_GE(y.rms, (std::exp(1) / (std::exp(1) + 3) - 0.25) * std::sqrt(4.0 / 3 / 63.25));
}

// A place that differs is read by nine windows of three by three.
TEST(PassedOnTest, AConvolutionSpreadsAFlipOverItsWindow) {
  const std::string node =
      WeightOf("w", {1, 1, 3, 3}, std::vector<float>(9, 1)) + Do("Conv", {"d", "w"}, "y");
  const ErrorPrediction y = PredictBehindFlip(node, std::vector<float>(64, 1), {1, 1, 8, 8}, 27,
                                              {"y", std::vector<float>(36, 9), {1, 1, 6, 6}})
                                .at("y");
  EXPECT_NEAR(y.reached + y.fresh, 9.0 / 36, 1e-9);
}

// Some subtract products of zero points: that rounds codes which are not known as it does others.
TEST(PassedOnTest, CodesThatAreNotKnownAreShiftedAsTypicalOnesAre) {
  const auto errors = Predict(kSteps);
  EXPECT_GT(errors.at("y").clean, 1e-6);
}

}  // namespace
}  // namespace vernier
