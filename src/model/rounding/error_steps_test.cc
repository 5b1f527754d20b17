// Errors of the steps themselves: of ranges that are computed in floats.
#include <gtest/gtest.h>

#include <string>

#include "model/rounding/error_test_graphs.h"
#include "model/rounding/unit_roundoff.h"

namespace vernier {
namespace {

using namespace testing_model;

std::string Zero(int32_t type) {
  return Field(5, Number(2, static_cast<uint64_t>(type)) + Field(8, "z") + Field(9, "\0"));
}

// Of steps of a half, made of x by one quantiser and read by the other, with a reader.
std::string Dequantised(std::string_view codes, std::string_view behind) {
  return Input("x", {4, 8}) + Input("given", {4, 8}, kUint8) + WeightOf("s", {}, {0.5F}) +
         Do("QuantizeLinear", {"x", "s", "z"}, "q") +
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
  // Codes that no quantiser of the graph makes are multiplied with their scale on both sides.
  EXPECT_DOUBLE_EQ(absolute(Zero(kUint8) + Dequantised("given", "Relu"), "d"), 0);
}

}  // namespace
}  // namespace vernier
