#include <gtest/gtest.h>

#include "model/rounding/error_test_graphs.h"

namespace vernier {
namespace {

using namespace testing_model;

std::string BestOf(const std::string& behind) {
  return Linear(64) + Do("ArgMax", {"y"}, "best", Attribute("axis", 1)) + behind;
}

// Two rows: one clear, one whose best two differ by a rounding.
const std::vector<SeenTensor> kOneNearTie = {{"y", {3, 1, 2, 2.000001F}, {2, 2}}};

TEST(ErrorChoicesTest, ANearTieMayBeDecidedOtherwise) {
  const ErrorPrediction best = PredictFromValues(BestOf(""), kOneNearTie).at("best");
  EXPECT_DOUBLE_EQ(best.chosen, 0.5);
  EXPECT_EQ(best.rms, 0) << "all others are exact";
}

TEST(ErrorChoicesTest, ClearChoicesAndUnseenValuesAreExact) {
  const std::vector<SeenTensor> clear = {{"y", {3, 1, 2, 4}, {2, 2}}};
  EXPECT_EQ(PredictFromValues(BestOf(""), clear).at("best").chosen, 0);
  EXPECT_EQ(Predict(BestOf("")).at("best").chosen, 0);
}

TEST(ErrorChoicesTest, TheFirstThatTopKLeavesMayBeAsGood) {
  const std::string graph =
      Linear(64) + Field(1, Node("TopK", {"y", "k"}, {"values", "places"}, {}));
  const std::vector<SeenTensor> values = {{"y", {9, 7, 5, 3, 3, 1}, {1, 6}},
                                          {"values", {9, 7, 5, 3}, {1, 4}}};
  const std::string fed = graph + Input("k", {1}, kInt64);
  const ErrorPredictions errors = PredictFromValues(fed, values);
  EXPECT_EQ(errors.at("values").chosen, 0);
  // How many are taken is not known: at least one, which is clear.
  EXPECT_EQ(errors.at("places").chosen, 0);
  const std::vector<SeenTensor> tied = {{"y", {9, 9, 5, 3, 3, 1}, {1, 6}}};
  EXPECT_EQ(PredictFromValues(fed, tied).at("places").chosen, 1);
}

TEST(ErrorChoicesTest, WhatIsGatheredByThemIsOpenToo) {
  const std::string table = Weight("table", {8, 4});
  const ErrorPredictions errors = PredictFromValues(
      BestOf(table + Do("Gather", {"table", "best"}, "rows") +
             Do("Mul", {"rows", "rows"}, "squares") + Do("ReduceSum", {"squares"}, "sum") +
             Do("Shape", {"rows"}, "sizes")),
      kOneNearTie);
  EXPECT_DOUBLE_EQ(errors.at("rows").chosen, 0.5);
  EXPECT_DOUBLE_EQ(errors.at("squares").chosen, 0.5);
  EXPECT_EQ(errors.at("sum").chosen, 1) << "each sum may have such an element";
  EXPECT_EQ(errors.at("sizes").chosen, 0);
}

TEST(ErrorChoicesTest, WholeNumbersOfWholeNumbersAreNoQuantisers) {
  const std::string graph = Input("n", {4}, kInt64) + Weight("m", {4}, kInt64) +
                            Do("Mul", {"n", "m"}, "p") + Do("Mod", {"p", "m"}, "r");
  const ErrorPrediction rest = Predict(graph).at("r");
  EXPECT_EQ(rest.rms, 0);
  EXPECT_EQ(rest.quantisers, 0);
}

// Boxes of hundreds beside probabilities of 1e-5, whose errors are of the sigmoid's range.
TEST(ErrorChoicesTest, APartOfALargerWholeKeepsItsOwnError) {
  const std::string graph =
      Linear(64) + Do("Sigmoid", {"y"}, "s") + Input("boxes", {4, 8}) +
      Do("Concat", {"boxes", "s"}, "all", Attribute("axis", 1)) +
      Field(1, Node("Split", {"all"}, {"first", "second"}, Attribute("axis", 1)));
  SeenOutputs seen;
  TensorMap tensors;
  const auto add = [&](const std::string& name, float value) {
    TensorBuffer buffer = *TensorBuffer::Allocate(DType::kFloat32, {4, 8});
    for (float& element : buffer.As<float>()) element = value;
    tensors.push_back({name, std::move(buffer).Freeze()});
  };
  for (const char* name : {"s", "second"}) add(name, 1e-5F);
  for (const char* name : {"all", "first"}) add(name, 200);
  seen.values = [&](std::string_view name) { return Find(tensors, name); };
  // What was found on the whole says nothing of its small part.
  seen.measure = [](const std::string& name,
                    const ErrorPrediction&) -> std::optional<MeasuredError> {
    if (name != "all") return {};
    return MeasuredError{.flipped = 0, .reached = 0, .typical = 1e-8, .largest = 1e-8};
  };
  const OnnxModel model = *Parse(Model(graph));
  const std::vector<std::string> outputs = {"all"};
  const ErrorPredictions errors =
      *PredictErrors(model, {}, kAsInModel, kAsInModel, outputs, FedInputs::kSame, seen);
  EXPECT_GT(errors.at("second").rms, 0.01);
  EXPECT_EQ(errors.at("second").rms, errors.at("s").rms);
  EXPECT_LT(errors.at("first").rms, 1e-5);
}

TEST(ErrorModelTest, SizesThatNoRuleFindsAreTakenFromTheOutput) {
  const OnnxModel model = *Parse(Model(Linear(64) + Do("Frobnicate", {"y"}, "z") +
                                       Do("QuantizeLinear", {"z", "scale", "zero"}, "q")));
  const auto flips = [&](const SeenOutputs& seen) {
    return PredictErrors(model, {}, kAsInModel, kAsInModel, {}, FedInputs::kSame, seen)
        ->at("q")
        .flips;
  };
  const Dims many = {1000, 1000};
  SeenOutputs seen;
  seen.dims = [&](std::string_view name) { return name == "z" ? &many : nullptr; };
  EXPECT_GT(flips(seen), 1000 * flips({}));
}

}  // namespace
}  // namespace vernier
