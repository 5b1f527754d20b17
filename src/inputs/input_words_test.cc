#include <gtest/gtest.h>

#include "inputs/polygraphy_text.h"
#include "inputs/shape_spec.h"
#include "inputs/value_ranges.h"

namespace vernier {
namespace {

std::string ReadShapes(std::vector<std::string> words, Strictness strictness) {
  const auto specs = ParseShapeSpecs(words, strictness);
  return specs.ok() ? FormatShapeSpecs(*specs) : specs.status().message();
}

TEST(ShapeSpecs, ReadPolygraphyGrammar) {
  EXPECT_EQ(ReadShapes({"input:0:[1,3,224,224]"}, Strictness::kStrict),
            "{input:0 [shape=(1, 3, 224, 224)]}");
  EXPECT_EQ(ReadShapes({"x:[]", "y:[1]", "z:[1,]"}, Strictness::kStrict),
            "{x [shape=()],\n y [shape=(1,)],\n z [shape=(1,)]}");
  EXPECT_EQ(ReadShapes({"x:[\"batch\",'n',m,-1]"}, Strictness::kStrict),
            "{x [shape=('batch', 'n', 'm', -1)]}");
  EXPECT_EQ(ReadShapes({"x:AUTO"}, Strictness::kStrict), "{x}");
}

TEST(ShapeSpecs, TheSpellingOfTrtexecIsRefusedUnlessPolygraphyIsMeant) {
  EXPECT_EQ(ReadShapes({"x:3x4"}, Strictness::kStrict),
            "--input-shapes: expected NAME:[d0,d1,...] or NAME:[d0,d1,...]:DTYPE, got 'x:3x4'");
  EXPECT_EQ(ReadShapes({"x:3x4"}, Strictness::kPolygraphy), "{x [shape=('3', 'x', '4')]}");
  EXPECT_EQ(ReadShapes({"x:5"}, Strictness::kPolygraphy),
            "--input-shapes: expected NAME:[d0,d1,...] or NAME:[d0,d1,...]:DTYPE, got 'x:5'; "
            "brackets are missing");
  EXPECT_EQ(ReadShapes({"x:[1.5]"}, Strictness::kStrict),
            "--input-shapes: expected NAME:[d0,d1,...] or NAME:[d0,d1,...]:DTYPE, got 'x:[1.5]'"
            ": 1.5 is no dimension");
}

std::string ReadRange(const std::string& word) {
  const std::vector<std::string> words = {word};
  const auto ranges = ParseValueRanges(words);
  if (!ranges.ok()) return ranges.status().message();
  return ranges->at(0).name + FormatRange(ranges->at(0).range);
}

TEST(ValueRanges, ReadPolygraphyGrammar) {
  EXPECT_EQ(ReadRange("[0.0,2.3]"), "[0.0, 2.3]");
  EXPECT_EQ(ReadRange("))):[0,2.3]"), ")))[0, 2.3]");
  EXPECT_EQ(ReadRange("x:[-inf,nan]"), "x[-inf, nan]");
  EXPECT_EQ(ReadRange("x:[0,18446744073709551615]"), "x[0, 18446744073709551615]");
}

TEST(ValueRanges, RefuseWhatIsNoPairOfNumbers) {
  EXPECT_EQ(ReadRange("x:[1,2,3]"),
            "In --val-range, for input: x, expected to receive exactly 2 values, but received 3.\n"
            "Note: Option was parsed as: input: x, range: [1, 2, 3]");
  EXPECT_EQ(ReadRange("x:[y,2]"),
            "In --val-range, for input: x, one or more elements of the range could not be parsed "
            "as a number.\nNote: Option was parsed as: input: x, range: ['y', 2]");
  EXPECT_EQ(ReadRange("x:5"),
            "In --val-range, for input: x, expected a range in brackets such as [0,1], but "
            "received 5");
}

TEST(ValueRanges, OnlyFiniteBoundsCanBeDrawnBetween) {
  const auto said = [](const std::string& word) {
    return CheckValueRanges(std::vector<std::string>{"[0,1]", word}).message();
  };
  EXPECT_EQ(said("x:[nan,1]"), "--val-range: expected two finite numbers, got 'x:[nan, 1]'");
  EXPECT_EQ(said("x:[0,-inf]"), "--val-range: expected two finite numbers, got 'x:[0, -inf]'");
  EXPECT_EQ(said("[inf,inf]"), "--val-range: expected two finite numbers, got '[inf, inf]'");
  EXPECT_EQ(said("x:[1,0]"),
            "--val-range: expected two finite numbers, the smaller first, got 'x:[1, 0]'");
  EXPECT_EQ(said("x:[0,1"),
            "--val-range: expected [NAME:][MIN,MAX], got 'x:[0,1', whose brackets do not close");
  EXPECT_EQ(said("a[0]:[1,1]"), "");
  EXPECT_EQ(said("x:[0,18446744073709551615]"), "");
}

TEST(ValueRanges, FallBackToTheUnnamedRange) {
  const std::vector<std::string> words = {"[2,5]", "y:[-3,4]", "y:[-3,6]"};
  const auto ranges = ParseValueRanges(words);
  EXPECT_EQ(FormatRange(RangeFor(*ranges, "x")), "[2, 5]");
  EXPECT_EQ(FormatRange(RangeFor(*ranges, "y")), "[-3, 6]");
  EXPECT_EQ(FormatRange(RangeFor({}, "x")), "[0.0, 1.0]");
}

TEST(PolygraphyText, WrapsIntegersAsNumpy) {
  const std::vector<int64_t> values(10, 1000000);
  EXPECT_EQ(FormatNumpyInts(values),
            "[1000000 1000000 1000000 1000000 1000000 1000000 1000000 1000000 1000000\n 1000000]");
  EXPECT_EQ(FormatNumpyInts({}), "[]");
}

TEST(PolygraphyText, NamesTypesAsPolygraphy) {
  EXPECT_EQ(PolygraphyDTypeName(DType::kFloat8E4M3FN), "float8e4m3fn");
  EXPECT_EQ(PolygraphyDTypeName(DType::kFloat4E2M1), "float4");
  EXPECT_EQ(PolygraphyDTypeName(DType::kInt32), "int32");
}

}  // namespace
}  // namespace vernier
