#include "inputs/dim_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TensorInfo InputOf(const std::string& name, std::vector<Dim> shape) {
  return {name, DType::kFloat32, std::move(shape)};
}

const std::vector<TensorInfo>& Bert() {
  static const std::vector<TensorInfo> kInputs = {
      InputOf("ids", {{-1, "batch"}, {-1, "sequence"}}),
      InputOf("mask", {{-1, "batch"}, {-1, "sequence"}}),
      InputOf("frames", {{-1, "batch"}, {80, {}}, {-1, {}}})};
  return kInputs;
}

std::vector<std::string> Shapes(const std::vector<std::string>& words, const KnownSizes& known,
                                const std::vector<TensorInfo>& inputs = Bert()) {
  const auto completed =
      CompleteShapes(*ParseShapeSpecs(words, Strictness::kStrict), inputs, known);
  if (!completed.ok()) return {completed.status().message()};
  std::vector<std::string> shapes;
  for (const ShapeSpec& spec : completed->shapes) {
    shapes.push_back(spec.name + FormatShape(spec.shape));
  }
  return shapes;
}

TEST(DimSizes, ReadsWords) {
  const std::vector<std::string> words = {"sequence=16", "x[1]=0", "a=b=3"};
  EXPECT_THAT(*ParseDimSizes(words),
              ElementsAre(DimSize{"sequence", 16}, DimSize{"x[1]", 0}, DimSize{"a=b", 3}));
  for (const std::string word : {"n", "=3", "n=", "n=x", "n=-1", "n=1.5"}) {
    EXPECT_THAT(ParseDimSizes(std::vector{word}).status().message(),
                HasSubstr("--dim: expected NAME=SIZE"));
  }
  EXPECT_THAT(ParseDimSizes(std::vector<std::string>{"n=1", "n=2"}).status().message(),
              HasSubstr("two sizes"));
}

TEST(DimSizes, InputsFollowTheShapesOfOthers) {
  EXPECT_THAT(Shapes({"ids:[2,16]"}, {}),
              ElementsAre("mask(2, 16)", "frames(2, 80, 1)", "ids(2, 16)"));
  EXPECT_THAT(Shapes({"ids:[2,16]"}, {.equal_names = false}), ElementsAre("ids(2, 16)"));
  EXPECT_THAT(Shapes({"ids:[1,8]", "ids:[4,8]"}, {}),
              ElementsAre("mask(1, 8)", "mask(4, 8)", "frames(1, 80, 1)", "frames(4, 80, 1)",
                          "ids(1, 8)", "ids(4, 8)"));
}

TEST(DimSizes, GivenShapesStay) {
  EXPECT_THAT(Shapes({"ids:[2,16]", "mask:[3,16]", "frames:[2,80,7]"}, {}),
              ElementsAre("ids(2, 16)", "mask(3, 16)", "frames(2, 80, 7)"));
  const auto completed = CompleteShapes(
      *ParseShapeSpecs(std::vector<std::string>{"ids:[2,16]", "mask:[3,16]"}, Strictness::kStrict),
      Bert(), {});
  EXPECT_THAT(completed->warnings, ElementsAre(HasSubstr("two sizes for dimension 'batch'")));
}

TEST(DimSizes, SizesByName) {
  const std::vector<DimSize> sequence = {{"sequence", 16}};
  EXPECT_THAT(Shapes({}, {.given = sequence}), ElementsAre("ids(1, 16)", "mask(1, 16)"));
  EXPECT_THAT(Shapes({"frames:[4,80,2]"}, {.given = sequence}),
              ElementsAre("ids(4, 16)", "mask(4, 16)", "frames(4, 80, 2)"));
  EXPECT_THAT(Shapes({}, {.given = std::vector<DimSize>{{"frames[2]", 9}}}),
              ElementsAre("frames(1, 80, 9)"));
}

TEST(DimSizes, NothingOverridesWhatWasGiven) {
  const std::vector<DimSize> given = {{"sequence", 16}};
  const std::vector<DimSize> found = {{"sequence", 3}, {"batch", 3}};
  EXPECT_THAT(Shapes({}, {given, found}),
              ElementsAre("ids(3, 16)", "mask(3, 16)", "frames(3, 80, 1)"));
  EXPECT_THAT(Shapes({"ids:[2,8]"}, {given}),
              ElementsAre(HasSubstr("--dim: 'sequence' is 16, and 8 in the shape given")));
}

TEST(DimSizes, NamesThatTheModelDoesNotHaveAreRefused) {
  EXPECT_THAT(Shapes({}, {.given = std::vector<DimSize>{{"seq", 16}}}),
              ElementsAre("--dim: the model leaves no dimension 'seq' free; it leaves free "
                          "['batch', 'sequence', 'frames[2]']; did you mean 'sequence'?"));
  EXPECT_THAT(Shapes({}, {.given = std::vector<DimSize>{{"n", 1}}}, {InputOf("x", {{2, {}}})}),
              ElementsAre(HasSubstr("all sizes of its inputs are fixed")));
}

TEST(DimSizes, APlaceThatHasANameSetsTheName) {
  const std::vector<DimSize> place = {{"ids[1]", 4}};
  EXPECT_THAT(Shapes({}, {.given = place}), ElementsAre("ids(1, 4)", "mask(1, 4)"));
  EXPECT_THAT(Shapes({}, {.given = std::vector<DimSize>{{"mask[1]", 4}, {"sequence", 4}}}),
              ElementsAre("ids(1, 4)", "mask(1, 4)"));
  EXPECT_THAT(FindOpenDimensions({}, Bert(), {.given = place}).keys,
              ElementsAre("batch", "frames[2]"));
  EXPECT_THAT(Shapes({"mask:[1,5]"}, {.given = place}),
              ElementsAre(HasSubstr("'sequence' is 4, and 5 in the shape given for input 'mask'")));
}

TEST(DimSizes, APlaceAndANameWithTwoSizesAreRefused) {
  EXPECT_THAT(Shapes({}, {.given = std::vector<DimSize>{{"ids[1]", 4}, {"sequence", 5}}}),
              ElementsAre("--dim: 'sequence' has two sizes, 4 by 'ids[1]' and 5 by 'sequence'; "
                          "give one of them"));
  EXPECT_THAT(Shapes({}, {.given = std::vector<DimSize>{{"ids[1]", 4}, {"mask[1]", 5}}}),
              ElementsAre(HasSubstr("4 by 'ids[1]' and 5 by 'mask[1]'")));
}

TEST(DimSizes, ANameThatLooksLikeAPlaceIsAName) {
  const std::vector<TensorInfo> inputs = {InputOf("x", {{-1, "y[0]"}, {-1, "n"}}),
                                          InputOf("y", {{-1, "n"}})};
  EXPECT_THAT(Shapes({}, {.given = std::vector<DimSize>{{"y[0]", 4}, {"n", 5}}}, inputs),
              ElementsAre("x(4, 5)", "y(4,)"));
}

TEST(DimSizes, AQuestionMarkIsNoName) {
  const std::vector<TensorInfo> inputs = {InputOf("x", {{-1, "?"}, {3, {}}, {-1, "?"}}),
                                          InputOf("b", {{-1, "?"}})};
  EXPECT_THAT(Shapes({}, {.given = std::vector<DimSize>{{"x[0]", 4}, {"x[2]", 5}}}, inputs),
              ElementsAre("x(4, 3, 5)"));
  EXPECT_THAT(Shapes({"x:[2,3,5]"}, {}, inputs), ElementsAre("x(2, 3, 5)"));
  EXPECT_THAT(FindOpenDimensions({}, inputs, {}).keys, ElementsAre("x[0]", "x[2]", "b[0]"));
}

TEST(DimSizes, FindsWhatNobodyGave) {
  const OpenDimensions all = FindOpenDimensions({}, Bert(), {});
  EXPECT_THAT(all.keys, ElementsAre("batch", "sequence", "frames[2]"));
  EXPECT_THAT(all.leading, ElementsAre("batch"));
  const auto specs = *ParseShapeSpecs(std::vector<std::string>{"ids:[2,16]"}, Strictness::kStrict);
  EXPECT_THAT(FindOpenDimensions(specs, Bert(), {}).keys, ElementsAre("frames[2]"));
  EXPECT_THAT(FindOpenDimensions(specs, std::vector{InputOf("y", {{2, {}}})}, {}).keys, IsEmpty());
}

}  // namespace
}  // namespace vernier
