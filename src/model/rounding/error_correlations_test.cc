#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "model/rounding/error_test_graphs.h"
#include "model/rounding/plain_sums.h"

namespace vernier {
namespace {

using namespace testing_model;

const Dims kMaps = {1, 4, 80, 80};

// Four maps, each of one value or of values about it.
std::vector<float> Maps(double spread) {
  std::vector<float> values;
  uint32_t state = 1;
  for (int channel = 0; channel < 4; ++channel) {
    const float all = 1.3F + 0.7F * static_cast<float>(channel);
    for (int i = 0; i < 6400; ++i) {
      state = state * 1664525 + 1013904223;
      const double random = static_cast<double>(state >> 8) / (1 << 24) - 0.5;
      values.push_back(all + static_cast<float>(spread * random));
    }
  }
  return values;
}

double ErrorOfSums(double spread, std::vector<int64_t> axes, SummedTerms terms) {
  return PlainSumError(SeenValues(Maps(spread), kMaps), axes, terms);
}

TEST(PlainSumsTest, ErrorsOfEqualTermsAddUp) {
  for (const SummedTerms terms : {SummedTerms::kValues, SummedTerms::kMagnitudes,
                                  SummedTerms::kSquares, SummedTerms::kSquaresToRoot}) {
    EXPECT_GT(ErrorOfSums(0, {2, 3}, terms), 10 * ErrorOfSums(1, {2, 3}, terms));
  }
  // A third of the sum is added in steps whose rounding errors are alike, of up to one roundoff.
  const double flat = ErrorOfSums(0, {-1, -2}, SummedTerms::kValues);
  EXPECT_GT(flat, 0.02 * 6400 * 0x1p-24);
  EXPECT_LT(flat, 0.5 * 6400 * 0x1p-24);
}

TEST(PlainSumsTest, AxesMayLieApart) {
  // Over channels and columns: 320 terms of four values each.
  EXPECT_LT(ErrorOfSums(0, {1, 3}, SummedTerms::kValues), 320 * 0x1p-24);
  EXPECT_GT(ErrorOfSums(0, {}, SummedTerms::kValues), 0.02 * 25600 * 0x1p-24);
  EXPECT_EQ(ErrorOfSums(0, {4}, SummedTerms::kValues), 0) << "there is no such axis";
}

// By how much the bound is wider where the values are flat.
double TimesOfFlat(const std::string& op) {
  const std::string graph = Input("x", kMaps) + Do("Identity", {"x"}, "y") + Do(op, {"y"}, "m");
  const auto bound = [&](double spread) {
    return PredictFromValues(graph, {{"y", Maps(spread), kMaps}}).at("m").rms;
  };
  return bound(0) / bound(1);
}

TEST(ErrorCorrelationsTest, FlatAreasHaveTheErrorsOfPlainSums) {
  EXPECT_GT(TimesOfFlat("GlobalAveragePool"), 2);
  EXPECT_GT(TimesOfFlat("GlobalLpPool"), 1.2);
  EXPECT_GT(TimesOfFlat("ReduceSum"), 4) << "over all axes";
}

TEST(ErrorCorrelationsTest, TheFedValuesCountToo) {
  const std::string graph = Input("x", kMaps) + Do("GlobalAveragePool", {"x"}, "m");
  const OnnxModel model = *Parse(Model(graph));
  const auto bound = [&](double spread) {
    const Tensor fed = SeenValues(Maps(spread), kMaps);
    SeenOutputs seen;
    seen.fed = [&](std::string_view name) { return name == "x" ? &fed : nullptr; };
    return PredictErrors(model, {}, kAsInModel, kAsInModel, {}, FedInputs::kSame, seen)
        ->at("m")
        .rms;
  };
  EXPECT_GT(bound(0), 2 * bound(1));
  const auto in_float64 = [&](double spread) {
    const Tensor fed = SeenValues(Maps(spread), kMaps);
    SeenOutputs seen;
    seen.fed = [&](std::string_view) { return &fed; };
    const RunnerArithmetic wide{DType::kFloat64, false};
    return PredictErrors(model, {}, wide, wide, {}, FedInputs::kSame, seen)->at("m").rms;
  };
  EXPECT_EQ(in_float64(0), in_float64(1)) << "sums of another type";
}

const Dims kRow = {1, 1, 4};

// After y, whose error was measured, where these are the values of both sides.
ErrorPredictions PredictMeasured(const std::string& graph, const TensorMap& ours,
                                 const TensorMap& theirs) {
  const OnnxModel model = *Parse(Model(graph));
  SeenOutputs seen;
  seen.measure = [](const std::string& output, const ErrorPrediction&) {
    return output == "y" ? std::optional(MeasuredError{.typical = 1}) : std::nullopt;
  };
  seen.values = [&](std::string_view output) { return Find(ours, output); };
  seen.others = [&](std::string_view output) { return Find(theirs, output); };
  const std::vector<std::string> outputs = {"y"};
  return *PredictErrors(model, {}, kAsInModel, kAsInModel, outputs, FedInputs::kSame, seen);
}

double RatioOf(const ErrorPredictions& errors, const std::string& name) {
  return errors.at(name).rms / errors.at("y").rms;
}

TEST(ErrorCorrelationsTest, ErrorsGrowWhereTheyLie) {
  const std::string graph = Linear(1 << 20) + Do("Reciprocal", {"y"}, "r");
  const TensorMap ours = {{"y", SeenValues({0.1F, 1, 1, 1}, kRow)},
                          {"r", SeenValues({10, 1, 1, 1}, kRow)}};
  const auto after = [&](const std::vector<float>& theirs) {
    return PredictMeasured(graph, ours, {{"y", SeenValues(theirs, kRow)}});
  };
  // Slopes of 100 and 1; root mean squares of 0.868 and 5.074.
  EXPECT_NEAR(RatioOf(after({0.1001F, 1, 1, 1}), "r"), 17.1, 0.2);
  EXPECT_NEAR(after({0.1001F, 1, 1, 1}).at("r").largest, 0.01 / 5.074, 1e-5);
  EXPECT_NEAR(RatioOf(after({0.1F, 1.001F, 1, 1}), "r"), 8.55, 0.2) << "as of even errors";
}

TEST(ErrorCorrelationsTest, FactorsThatAreOneTensorErrTogether) {
  const std::string graph =
      Linear(1 << 20) + Do("Identity", {"y"}, "i") + Do("Mul", {"y", "i"}, "p");
  const Tensor theirs = SeenValues({2.002F, 2.002F, 2, 2}, kRow);
  TensorMap ours = {{"y", SeenValues({2, 2, 2, 2}, kRow)}, {"p", SeenValues({4, 4, 4, 4}, kRow)}};
  EXPECT_NEAR(RatioOf(PredictMeasured(graph, ours, {{"y", theirs}}), "p"), 1, 0.01)
      << "of i nothing is known";
  ours.push_back({"i", ours[0].tensor});
  EXPECT_NEAR(RatioOf(PredictMeasured(graph, ours, {{"y", theirs}, {"i", theirs}}), "p"), 2, 0.01);
}

TEST(ErrorCorrelationsTest, GatesOfChannelsErrInAllOfTheirValues) {
  const std::string graph =
      Linear(1 << 20) + Do("Identity", {"y"}, "gate") + Do("Mul", {"gate", "y"}, "p");
  const Dims maps = {1, 2, 1, 2}, gates = {1, 2, 1, 1};
  const Tensor values = SeenValues({4, 4, 1, 1}, maps);
  const TensorMap ours = {
      {"y", values}, {"gate", SeenValues({1, 1}, gates)}, {"p", SeenValues({4, 4, 1, 1}, maps)}};
  const TensorMap theirs = {{"y", values}, {"gate", SeenValues({1.001F, 1}, gates)}};
  const ErrorPredictions errors = PredictMeasured(graph, ours, theirs);
  // Half of the gates are off by 0.001, and the products with them by 0.004 of 2.915.
  EXPECT_NEAR(RatioOf(errors, "p"), 0.004 / 2.915 / 0.001, 0.02);
  EXPECT_NEAR(errors.at("p").largest, 0.004 / 2.915, 1e-5);
}

TEST(ErrorCorrelationsTest, WhatIsMadeOfTwoTensorsWithErrorsIsCrossed) {
  const std::string graph = Linear(64) + Do("MatMul", {"y", "y"}, "c") + Weight("k", {1}) +
                            Do("Mul", {"c", "k"}, "scaled") + Do("Softmax", {"scaled"}, "s");
  const ErrorPredictions errors = Predict(graph);
  EXPECT_FALSE(errors.at("y").crossed) << "the weights have none";
  EXPECT_TRUE(errors.at("c").crossed);
  EXPECT_TRUE(errors.at("scaled").crossed);
  EXPECT_FALSE(errors.at("s").crossed);
}

TEST(ErrorCorrelationsTest, WhatIsMostlyAGainStaysOneWhereItIsMoved) {
  const std::string graph = Input("x", {1, 64}) + Weight("w", {64, 64}) + Weight("s", {}) +
                            Do("MatMul", {"x", "w"}, "p") + Do("QuantizeLinear", {"p", "s"}, "q") +
                            Do("DequantizeLinear", {"q", "s"}, "y") + Do("Neg", {"y"}, "n");
  const auto crossed = [&](double gain) {
    SeenOutputs seen;
    seen.measure = [&](const std::string&, const ErrorPrediction&) {
      return MeasuredError{0.01, 1, 0, 0.02, gain};
    };
    const std::vector<std::string> outputs = {"y"};
    const OnnxModel model = *Parse(Model(graph));
    return PredictErrors(model, {}, kAsInModel, kAsInModel, outputs, FedInputs::kSame, seen)
        ->at("n")
        .crossed;
  };
  EXPECT_TRUE(crossed(0.009));
  EXPECT_FALSE(crossed(0.001));
}

}  // namespace
}  // namespace vernier
