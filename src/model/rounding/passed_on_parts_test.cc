// Operators that take parts of a tensor or add its elements up.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "model/rounding/error_test_graphs.h"
#include "model/rounding/passed_on.h"

namespace vernier {
namespace {

using namespace testing_model;

// Two rows of three.
const std::vector<float> kOnes = {1, 1, 1, 1, 1, 1};

// x of one side with a step more at that place.
std::vector<float> Flipped(size_t place) {
  std::vector<float> values = kOnes;
  ++values[place];
  return values;
}

// How many of the elements that the node gives are the flipped one; all others are 1.
double TimesTaken(const std::string& node, size_t place, double elements) {
  const auto passed = Passed(node, kOnes, Flipped(place));
  if (!passed) return -1;
  const double scale = passed->largest > 0 ? 1 / passed->largest : 1;
  return std::round(passed->rms * passed->rms * scale * scale * elements);
}

std::string Slice(float start, float end, float axis, float step) {
  return WeightOf("starts", {1}, {start}) + WeightOf("ends", {1}, {end}) +
         WeightOf("axes", {1}, {axis}) + WeightOf("steps", {1}, {step}) +
         Do("Slice", {"x", "starts", "ends", "axes", "steps"}, "y");
}

TEST(PassedOnPartsTest, ASliceTakesWhatItsAxesSay) {
  const std::string last_column = Slice(-1, 9, 1, 1);
  EXPECT_EQ(TimesTaken(last_column, 2, 2), 1);
  EXPECT_EQ(TimesTaken(last_column, 1, 2), 0);
  const std::string backwards = Slice(2, -9, -1, -2);
  EXPECT_EQ(TimesTaken(backwards, 0, 4), 1);
  EXPECT_EQ(TimesTaken(backwards, 1, 4), 0);
  EXPECT_EQ(TimesTaken(backwards, 2, 4), 1);
  const std::string old = Do("Slice", {"x"}, "y", Ints("starts", 1) + Ints("ends", 2));
  EXPECT_EQ(TimesTaken(old, 5, 3), 1);
  EXPECT_EQ(TimesTaken(old, 2, 3), 0);
  EXPECT_FALSE(Passed(Slice(0, 1, 7, 1), kOnes, Flipped(0)));
}

// One of two elements that are left differs, of six before.
TEST(PassedOnPartsTest, APartMayDifferByMoreThanTheWhole) {
  const double whole = Passed(Do("Identity", {"x"}, "y"), kOnes, Flipped(2))->rms;
  EXPECT_GT(Passed(Slice(2, 3, 1, 1), kOnes, Flipped(2))->rms, 1.2 * whole);
}

TEST(PassedOnPartsTest, ElementsAreGatheredWhereBothSidesTakeTheSame) {
  const std::string twice = WeightOf("at", {2, 2}, {2, 2, 0, 0}) +
                            Do("GatherElements", {"x", "at"}, "y", Attribute("axis", 1));
  EXPECT_EQ(TimesTaken(twice, 2, 4), 2);
  EXPECT_EQ(TimesTaken(twice, 5, 4), 0);
  const std::string beyond =
      WeightOf("at", {1, 1}, {3}) + Do("GatherElements", {"x", "at"}, "y", Attribute("axis", 1));
  EXPECT_FALSE(Passed(beyond, kOnes, Flipped(0)));
}

TEST(PassedOnPartsTest, MeansAddFlipsUpAsTheyAre) {
  // All three codes of one row went the same way, or two went either way.
  const std::string mean = Do("ReduceMean", {"x"}, "y", Ints("axes", 1));
  const std::string pool = Do("GlobalAveragePool", {"x"}, "y");
  const double scale = std::sqrt((2 * 1 + 1 + 4) / 4.0);
  for (const auto& [node, dims] : {std::pair(mean, Dims{2, 3}), std::pair(pool, Dims{1, 2, 3})}) {
    EXPECT_NEAR(Passed(node, kOnes, {2, 2, 2, 1, 1, 1}, dims)->rms, std::sqrt(0.5) / scale, 1e-12);
    EXPECT_EQ(Passed(node, kOnes, {2, 0, 1, 1, 1, 1}, dims)->rms, 0);
  }
}

TEST(PassedOnPartsTest, ChannelsOfOnePixelAreARowOfASoftmax) {
  const std::string node = Do("Softmax", {"x"}, "y", Attribute("axis", 1));
  EXPECT_TRUE(Passed(node, kOnes, Flipped(0), {2, 3, 1, 1}));
  EXPECT_FALSE(Passed(node, kOnes, Flipped(0), {1, 2, 3}));
}

TEST(PassedOnPartsTest, WhatOnlyHasAnotherShapeDiffersAsMuch) {
  const std::string axes = WeightOf("axes", {1}, {0});
  const double same = Passed(Do("Identity", {"x"}, "y"), kOnes, Flipped(2))->rms;
  EXPECT_EQ(Passed(axes + Do("Unsqueeze", {"x", "axes"}, "y"), kOnes, Flipped(2))->rms, same);
  EXPECT_EQ(Passed(Do("Transpose", {"x"}, "y"), kOnes, Flipped(2))->rms, same);
}

TEST(PassedOnPartsTest, AWaveMakesOfAFlipWhatItsSlopeSays) {
  const double scale = std::sqrt((11 * std::pow(std::sin(1), 2) + std::pow(std::sin(2), 2)) / 12);
  EXPECT_NEAR(Passed(Do("Sin", {"x"}, "y"), kOnes, Flipped(2))->largest,
              (std::sin(2) - std::sin(1)) / scale, 1e-12);
  EXPECT_TRUE(Passed(Do("Cos", {"x"}, "y"), kOnes, Flipped(2)));
}

// Logits of 1e8 are eight apart from one roundoff to the next.
TEST(PassedOnPartsTest, ASoftmaxOfHugeLogitsShowsNothingOfThem) {
  const auto predicted = [](float logit) {
    const Tensor a = SeenValues({logit, logit}, {1, 2});
    const Tensor b = SeenValues({logit, std::nextafter(logit, 2 * logit)}, {1, 2});
    const Tensor y = SeenValues({0.5F, 0.5F}, {1, 2}), z = SeenValues({0, 1}, {1, 2});
    SeenOutputs seen;
    seen.values = [&](std::string_view name) {
      return name == "x" ? &a : name == "y" ? &y : nullptr;
    };
    seen.others = [&](std::string_view name) {
      return name == "x" ? &b : name == "y" ? &z : nullptr;
    };
    seen.passes = [](const std::string&, const ErrorPrediction&) { return true; };
    const OnnxModel model =
        *Parse(Model(Input("in", {1, 2}) + Weight("w", {2, 2}) + Do("MatMul", {"in", "w"}, "x") +
                     Do("Softmax", {"x"}, "y")));
    return PredictErrors(model, {}, kAsInModel, kAsInModel, std::vector<std::string>{"x"},
                         FedInputs::kSame, seen)
        ->at("y")
        .rms;
  };
  EXPECT_GT(predicted(1e8F), 0.5);
  EXPECT_LT(predicted(1), 1e-4);
}

}  // namespace
}  // namespace vernier
