// Errors of the steps themselves: of ranges that are computed in floats, and where flips meet.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "model/rounding/error_test_graphs.h"
#include "model/rounding/passed_on.h"
#include "model/rounding/unit_roundoff.h"

namespace vernier {
namespace {

using namespace testing_model;

std::string Zero(int32_t type) {
  return Field(5, Number(2, static_cast<uint64_t>(type)) + Field(8, "z") + Field(9, "\0"));
}

// Of steps of a half, made of x by one quantiser and read by the other, with a reader.
std::string Dequantised(std::string_view codes, std::string_view behind) {
  return Input("x", {4, 8}) + Input("given", {4, 8}, kUint8) + Weight("w", {4, 8}, kUint8) +
         WeightOf("s", {}, {0.5F}) + Do("QuantizeLinear", {"x", "s", "z"}, "q") +
         Do("DequantizeLinear", {codes, "s", "z"}, "d") + Do(behind, {"d"}, "y");
}

TEST(ErrorStepsTest, BothQuantisersAsOneAreExactToAUnitOfTheRange) {
  const double roundoffs = 4 * 256 * 0.5;
  const auto absolute = [](const std::string& graph, const char* name) {
    return Predict(graph).at(name).absolute / UnitRoundoff(DType::kFloat32);
  };
  EXPECT_DOUBLE_EQ(absolute(Zero(kUint8) + Dequantised("q", "Relu"), "d"), roundoffs);
  EXPECT_DOUBLE_EQ(absolute(Zero(kUint8) + Dequantised("q", "Relu"), "y"), roundoffs);
  EXPECT_DOUBLE_EQ(absolute(Zero(kUint8) + Dequantised("q", "Sqrt"), "y"), 0);
  // A part of a model is fed with what a quantiser has made; weights are the same on both sides.
  EXPECT_DOUBLE_EQ(absolute(Zero(kUint8) + Dequantised("given", "Relu"), "d"), roundoffs);
  EXPECT_DOUBLE_EQ(absolute(Zero(kUint8) + Dequantised("w", "Relu"), "d"), 0);
}

// A product of a matrix with itself, one element of which has flipped.
PassedOn Square(const std::string& product, size_t flipped) {
  constexpr int64_t kSize = 8;
  std::vector<float> of_a(kSize * kSize, 1), of_b = of_a;
  ++of_b[flipped];
  const Tensor a = SeenValues(of_a, {kSize, kSize}), b = SeenValues(of_b, {kSize, kSize});
  SeenOutputs seen;
  seen.values = [&](std::string_view) { return &a; };
  seen.others = [&](std::string_view name) { return name == "x" ? &b : &a; };
  const OnnxModel model = *Parse(Model(Do("Relu", {"in"}, "x") + product));
  PassedDifferences passed(model, seen, {});
  return *passed.Of(model.graph().nodes.back(), 0, DType::kFloat32, {});
}

TEST(ErrorStepsTest, FlipsOfBothFactorsReachRowsAndColumns) {
  // Row 1 of one factor, and column 2 of the other.
  EXPECT_DOUBLE_EQ(Square(Do("MatMul", {"x", "x"}, "y"), 8 + 2).differ, 15.0 / 64);
  EXPECT_DOUBLE_EQ(Square(Do("MatMul", {"x", "w"}, "y"), 8 + 2).differ, 0);
  // Both factors have the row.
  const std::string by_rows = Do("Gemm", {"x", "x"}, "y", Attribute("transB", 1));
  EXPECT_DOUBLE_EQ(Square(by_rows, 8 + 2).differ, 15.0 / 64);
}

}  // namespace
}  // namespace vernier
