#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include "model/rounding/error_test_graphs.h"

namespace vernier {
namespace {

using namespace testing_model;

std::string BestOf(const std::string& behind) {
  return Linear(64) + Do("ArgMax", {"y"}, "best", Attribute("axis", 1)) + behind;
}

// Two rows: one clear, one whose best two differ by a rounding.
const std::vector<SeenTensor> kOneNearTie = {{"y", {3, 1, 2, 2.000001F}, {2, 2}}};

// Of kOneNearTie, with the sizes of what is named.
ErrorPredictions PredictWithSizes(const std::string& graph,
                                  const std::map<std::string, Dims, std::less<>>& sizes) {
  const TensorMap tensors = {{"y", SeenValues(kOneNearTie[0].elements, kOneNearTie[0].dims)}};
  SeenOutputs seen;
  seen.values = [&](std::string_view name) { return Find(tensors, name); };
  seen.dims = [&](std::string_view name) -> const Dims* {
    const auto found = sizes.find(name);
    return found == sizes.end() ? nullptr : &found->second;
  };
  const OnnxModel model = *Parse(Model(graph));
  return *PredictErrors(model, {}, kAsInModel, kAsInModel, {}, FedInputs::kSame, seen);
}

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

// Of a mask: as infinities it ties with nothing, and as large finite values it is no scale.
TEST(ErrorChoicesTest, MasksMakeNoTies) {
  for (const float mask : {-1e9F, -3.4e38F, -HUGE_VALF, std::nanf("")}) {
    const std::vector<SeenTensor> clear = {{"y", {3, mask, mask, 2.5F, mask, 2}, {2, 3}}};
    EXPECT_EQ(PredictFromValues(BestOf(""), clear).at("best").chosen, 0) << mask;
    const std::vector<SeenTensor> tied = {{"y", {3, mask, 2.999999F, 2.5F, mask, 2}, {2, 3}}};
    EXPECT_EQ(PredictFromValues(BestOf(""), tied).at("best").chosen, 0.5) << mask;
    const std::vector<SeenTensor> all = {{"y", {3, mask, mask, mask, mask, mask}, {2, 3}}};
    EXPECT_EQ(PredictFromValues(BestOf(""), all).at("best").chosen, 0.5) << mask;
  }
  const std::vector<SeenTensor> infinite = {{"y", {HUGE_VALF, 2, 1, 4, 3, 1}, {2, 3}}};
  EXPECT_EQ(PredictFromValues(BestOf(""), infinite).at("best").chosen, 0);
}

TEST(ErrorChoicesTest, WhatIsBesideItsMaximumHasTheScaleOfAll) {
  const std::vector<SeenTensor> seen = {{"y", {0, -1e-7F, -9, 0, -5, -9}, {2, 3}}};
  EXPECT_DOUBLE_EQ(PredictFromValues(BestOf(""), seen).at("best").chosen, 0.5);
}

TEST(ErrorChoicesTest, AxesBetweenOthersAreGoneThroughToo) {
  // Along the axis of three: 3 2 1, and 5 5 4.
  const std::vector<SeenTensor> seen = {{"y", {3, 5, 2, 5, 1, 4}, {1, 3, 2}}};
  EXPECT_DOUBLE_EQ(PredictFromValues(BestOf(""), seen).at("best").chosen, 0.5);
}

// Two rows, one of which is open, beside six that are not.
TEST(ErrorChoicesTest, OfAConcatEachPartHasItsShare) {
  const std::string table = Weight("table", {8, 4}) + Weight("others", {6, 4});
  const ErrorPredictions errors = PredictWithSizes(
      BestOf(table + Do("Gather", {"table", "best"}, "rows") +
             Do("Concat", {"rows", "others"}, "all", Attribute("axis", 0)) +
             Do("Concat", {"rows", "rows"}, "twice", Attribute("axis", 0)) +
             Field(1, Node("Split", {"all"}, {"first", "second"}, Attribute("axis", 0)))),
      {{"best", {2}}, {"first", {2, 4}}, {"second", {6, 4}}});
  EXPECT_DOUBLE_EQ(errors.at("rows").chosen, 0.5);
  EXPECT_DOUBLE_EQ(errors.at("all").chosen, 0.125);
  EXPECT_DOUBLE_EQ(errors.at("twice").chosen, 0.5);
  EXPECT_DOUBLE_EQ(errors.at("first").chosen, 0.5) << "it may have the open row";
  EXPECT_NEAR(errors.at("second").chosen, 1.0 / 6, 1e-12) << "it, too";
}

TEST(ErrorChoicesTest, WhatBodiesChooseIsOpenBehindThem) {
  const std::string body = Field(1, Node("ArgMax", {"y"}, {"inner"}, Attribute("axis", 1))) +
                           Field(12, Field(1, "inner"));
  const std::string branch = Field(1, "then_branch") + Field(6, body) + Number(20, 5);
  const std::string graph = Linear(64) + Input("c", {}, 9) + Do("If", {"c"}, "z", Field(5, branch));
  EXPECT_DOUBLE_EQ(PredictFromValues(graph, kOneNearTie).at("z").chosen, 0.5);
}

// One of four places is open, and with it one row of all that is made of them row by row.
TEST(ErrorChoicesTest, ProductsAndNormalisationsKeepRowsApart) {
  const std::string places =
      Input("x", {4, 8}) + Weight("u", {8, 2}) + Do("MatMul", {"x", "u"}, "v") +
      Do("ArgMax", {"v"}, "best", Attribute("axis", 1) + Attribute("keepdims", 0));
  const std::string rows =
      Weight("table", {32, 8}) + Weight("w", {8, 8}) + Weight("scale", {8}) +
      Do("Gather", {"table", "best"}, "rows") + Do("MatMul", {"rows", "w"}, "wide") +
      Do("LayerNormalization", {"wide", "scale"}, "norm") + Do("Relu", {"norm"}, "kept") +
      Do("MatMul", {"kept", "w"}, "y") + Weight("mix", {4, 4}) +
      Do("MatMul", {"mix", "y"}, "mixed") + Do("Softmax", {"y"}, "all");
  const TensorMap tensors = {{"v", SeenValues({3, 1, 2, 2.000001F, 3, 1, 3, 1}, {4, 2})}};
  SeenOutputs seen;
  seen.values = [&](std::string_view name) { return Find(tensors, name); };
  const Dims four = {4};
  seen.dims = [&](std::string_view name) { return name == "best" ? &four : nullptr; };
  const OnnxModel model = *Parse(Model(places + rows));
  const ErrorPredictions errors =
      *PredictErrors(model, {}, kAsInModel, kAsInModel, {}, FedInputs::kSame, seen);
  for (const char* name : {"best", "rows", "wide", "norm", "kept", "y"}) {
    EXPECT_DOUBLE_EQ(errors.at(name).chosen, 0.25) << name;
  }
  EXPECT_EQ(errors.at("mixed").chosen, 1) << "each sum has a term of the open row";
  EXPECT_EQ(errors.at("all").chosen, 1) << "along which axis is not asked";
}

TEST(ErrorChoicesTest, PartsOfUnknownSizesMayBeAllOfIt) {
  const ErrorPredictions errors = PredictWithSizes(
      BestOf(Weight("table", {8, 4}) + Do("Gather", {"table", "best"}, "rows") +
             Do("Frobnicate", {"x"}, "which") + Do("Gather", {"rows", "which"}, "part")),
      {{"best", {2}}});
  EXPECT_EQ(errors.at("part").chosen, 1);
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

TEST(ErrorChoicesTest, TheValuesThatTopKGivesShowTheTiesAmongThem) {
  const std::string graph = Linear(64) +
                            Field(1, Node("TopK", {"y", "k"}, {"values", "places"}, {})) +
                            Input("k", {1}, kInt64);
  const OnnxModel model = *Parse(Model(graph));
  const Dims four = {1, 4};
  TensorMap tensors = {{"values", SeenValues({9, 7, 7, 3}, four)}};
  SeenOutputs seen;
  seen.values = [&](std::string_view name) { return Find(tensors, name); };
  seen.dims = [&](std::string_view name) { return name == "places" ? &four : nullptr; };
  const std::vector<std::string> outputs = {"values", "places"};
  const auto chosen = [&] {
    return PredictErrors(model, {}, kAsInModel, kAsInModel, outputs, FedInputs::kSame, seen)
        ->at("places")
        .chosen;
  };
  EXPECT_DOUBLE_EQ(chosen(), 0.5);
  tensors[0].tensor = SeenValues({9, 7, 6, 3}, four);
  EXPECT_EQ(chosen(), 0);
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

// Both sides gave the places, and they are the same: what follows has to be, too.
TEST(ErrorChoicesTest, WhatWasChosenAlikeLeavesNothingOpen) {
  const OnnxModel model =
      *Parse(Model(BestOf(Weight("table", {8, 4}) + Do("Gather", {"table", "best"}, "rows") +
                          Do("ReduceSum", {"rows"}, "sum"))));
  const TensorMap tensors = {{"y", SeenValues({3, 1, 2, 2.000001F}, {2, 2})}};
  std::optional<double> differs = 0;
  SeenOutputs seen;
  seen.values = [&](std::string_view name) { return Find(tensors, name); };
  seen.choices = [&](std::string_view, const ErrorPrediction&) { return differs; };
  const std::vector<std::string> outputs = {"y", "best"};
  const auto predict = [&] {
    return *PredictErrors(model, {}, kAsInModel, kAsInModel, outputs, FedInputs::kSame, seen);
  };
  const ErrorPredictions alike = predict();
  EXPECT_DOUBLE_EQ(alike.at("best").chosen, 0.5) << "its own bound is as before";
  EXPECT_EQ(alike.at("rows").chosen, 0);
  EXPECT_EQ(alike.at("sum").chosen, 0);
  differs = 0.25;
  EXPECT_DOUBLE_EQ(predict().at("rows").chosen, 0.25);
  differs.reset();
  EXPECT_DOUBLE_EQ(predict().at("rows").chosen, 0.5) << "off itself, or not measured";
}

// Two sides' minima differ by as much as the largest error of what they are picked from.
TEST(ErrorChoicesTest, AnExtremeHasTheLargestErrorThatWasFound) {
  const OnnxModel model = *Parse(Model(Linear(64) + Do("ReduceMin", {"y"}, "m")));
  const TensorMap tensors = {{"y", SeenValues({3, 3, 3, 6}, {2, 2})}, {"m", SeenValues({3}, {1})}};
  double largest = 1e-4;
  SeenOutputs seen;
  seen.values = [&](std::string_view name) { return Find(tensors, name); };
  seen.measure = [&](const std::string& name,
                     const ErrorPrediction&) -> std::optional<MeasuredError> {
    if (name != "y") return {};
    return MeasuredError{.flipped = 0, .reached = 0, .typical = 1e-6, .largest = largest};
  };
  const std::vector<std::string> outputs = {"y", "m"};
  const auto predict = [&] {
    return *PredictErrors(model, {}, kAsInModel, kAsInModel, outputs, FedInputs::kSame, seen);
  };
  EXPECT_NEAR(predict().at("m").rms, 1e-4 * std::sqrt(63 / 4.0) / 3, 1e-9);
  largest = 1e-7;
  EXPECT_LT(predict().at("m").rms, 1e-5);
}

// A whole tensor that is shifted or scaled, as by an extreme, remains so.
TEST(ErrorChoicesTest, AGainThatWasFoundMayStay) {
  const OnnxModel model =
      *Parse(Model(Linear(64) + Do("Log", {"y"}, "l") + Do("Reshape", {"l"}, "r")));
  double gain = 0;
  const TensorMap tensors = {{"y", SeenValues({1e-4F, 1, 1, 1}, {2, 2})},
                             {"l", SeenValues({-9, 0, 0, 0}, {2, 2})}};
  SeenOutputs seen;
  seen.values = [&](std::string_view name) { return Find(tensors, name); };
  seen.measure = [&](const std::string& name,
                     const ErrorPrediction&) -> std::optional<MeasuredError> {
    if (name != "l") return {};
    return MeasuredError{
        .flipped = 0, .reached = 0, .typical = 1e-5, .largest = 1e-5, .gain = gain};
  };
  const std::vector<std::string> outputs = {"y", "l", "r"};
  const auto bound = [&] {
    return PredictErrors(model, {}, kAsInModel, kAsInModel, outputs, FedInputs::kSame, seen)
        ->at("r")
        .rms;
  };
  EXPECT_NEAR(bound(), 2e-5, 1e-6);
  gain = 9e-6;
  EXPECT_NEAR(bound(), 2.7e-5, 1e-6);
}

// Of two squares the larger one has most of the error, and of the sum.
TEST(ErrorChoicesTest, SumsOfFewTermsOfOneSignKeepMostOfTheirErrors) {
  const auto kept = [](int64_t terms) {
    const std::string axis = Field(5, Field(1, "axes") + Number(8, 1) + Number(20, 7));
    const std::string graph = Input("x", {4, 64}) + Weight("w", {64, terms}) +
                              Do("MatMul", {"x", "w"}, "y") + Do("Mul", {"y", "y"}, "squares") +
                              Do("ReduceSum", {"squares"}, "sum", axis);
    const ErrorPredictions errors = Predict(graph);
    return errors.at("sum").rms / errors.at("squares").rms;
  };
  EXPECT_GT(kept(2), 0.8);
  EXPECT_LT(kept(2), 1);
  EXPECT_LT(kept(64), 0.7);
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
      Field(1, Node("Split", {"all"}, {"first", "second"}, Attribute("axis", 1))) +
      Do("Pad", {"all", "zeros"}, "padded") + Do("ReduceMin", {"all"}, "least");
  SeenOutputs seen;
  TensorMap tensors;
  const auto add = [&](const std::string& name, float value) {
    TensorBuffer buffer = *TensorBuffer::Allocate(DType::kFloat32, {4, 8});
    for (float& element : buffer.As<float>()) element = value;
    tensors.push_back({name, std::move(buffer).Freeze()});
  };
  for (const char* name : {"s", "second", "least"}) add(name, 1e-5F);
  for (const char* name : {"all", "first"}) add(name, 200);
  add("padded", 60);
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
  EXPECT_GT(errors.at("least").rms, 0.01);
  EXPECT_LT(errors.at("first").rms, 1e-5);
  EXPECT_LT(errors.at("padded").rms, 1e-5) << "the whole, with zeros";
}

// Between quantisers some runtimes round the bias, be it the operator's or an Add behind it.
TEST(ErrorModelTest, ABiasThatIsAddedToProductsOfStepsIsRounded) {
  const std::string product =
      Input("q", {4, 64}, kUint8) + Weight("w", {64, 8}, kUint8) + Weight("b", {8}) +
      Do("DequantizeLinear", {"q", "s"}, "x") + Do("DequantizeLinear", {"w", "s"}, "v") +
      Do("MatMul", {"x", "v"}, "p") + Do("Add", {"b", "p"}, "y") + Do("Relu", {"y"}, "r");
  EXPECT_LT(Predict(product).at("r").rms, 1e-5);
  const std::string quantised = product + Do("QuantizeLinear", {"r", "s"}, "z");
  EXPECT_GT(Predict(quantised).at("r").rms, 4e-5);
  EXPECT_LT(Predict(quantised).at("p").rms, 1e-5) << "without the bias";
}

TEST(ErrorModelTest, LengthsOfTransformsMayBeInputs) {
  const auto whole = [](std::string_view name, int64_t value) {
    const std::string_view raw(reinterpret_cast<const char*>(&value), sizeof(value));
    return Field(5, Number(2, kInt64) + Field(8, name) + Field(9, raw));
  };
  const std::string frames = Input("x", {1, 4000}) + whole("step", 100) + whole("length", 320) +
                             Do("STFT", {"x", "step", "", "length"}, "y");
  EXPECT_EQ(Predict(frames).at("y").longest_sum, 320);
  const std::string along =
      Input("x", {400, 320, 1}) + whole("axis", 0) + Do("DFT", {"x", "", "axis"}, "y");
  EXPECT_EQ(Predict(along).at("y").longest_sum, 400);
  const std::string padded = Input("x", {400, 320, 1}) + whole("axis", 0) + whole("length", 512) +
                             Do("DFT", {"x", "length", "axis"}, "y");
  EXPECT_EQ(Predict(padded).at("y").longest_sum, 512);
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
