#include "inputs/shape_grid.h"

#include <gmock/gmock.h>

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Set = std::vector<std::string>;

std::vector<Set> Expand(const Set& words) {
  Result<std::vector<Set>> grid = ExpandShapeGrid(words);
  EXPECT_TRUE(grid.ok()) << grid.status().message();
  return grid.ok() ? *grid : std::vector<Set>();
}

TEST(ShapeGrid, WordsWithoutBracesAreOneSet) {
  EXPECT_THAT(Expand({"x:[1,3]", "y:auto"}), ElementsAre(Set{"x:[1,3]", "y:auto"}));
  EXPECT_THAT(Expand({}), ElementsAre(Set{}));
}

TEST(ShapeGrid, SeveralWordsForANameAreSetsInTurn) {
  EXPECT_THAT(Expand({"x:[1,3]", "x:[8,3]"}), ElementsAre(Set{"x:[1,3]"}, Set{"x:[8,3]"}));
  EXPECT_THAT(Expand({"x:[1]", "y:[5]", "x:[8]"}),
              ElementsAre(Set{"x:[1]", "y:[5]"}, Set{"x:[8]", "y:[5]"}));
  EXPECT_THAT(Expand({"x:[{1,2}]", "x:[8]"}),
              ElementsAre(Set{"x:[1]"}, Set{"x:[2]"}, Set{"x:[8]"}));
}

TEST(ShapeGrid, TheSameAsWordsInTurn) {
  const Set plain = {"x:[1]", "y:[5]", "x:[8]"}, braces = {"x:[{1,8}]", "y:[5]"};
  EXPECT_THAT(*ShapesInTurn(plain), testing::ElementsAreArray(plain));
  EXPECT_THAT(*ShapesInTurn(braces), ElementsAre("x:[1]", "y:[5]", "x:[8]", "y:[5]"));
  EXPECT_EQ(*CountShapeSets(plain), 2);
  EXPECT_EQ(*CountShapeSets({}), 1);
}

TEST(ShapeGrid, OneSetWhereOnlyOneIsUsed) {
  EXPECT_TRUE(RefuseSeveralShapes("--input-shapes", Set{"x:[1]", "y:[2]"}, "this").ok());
  for (const Set& words : {Set{"x:[1]", "x:[8]"}, Set{"x:[{1,8}]"}}) {
    const Status status = RefuseSeveralShapes("--input-shapes", words, "this");
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("expected one shape for 'x', got 2"));
    EXPECT_THAT(status.message(), HasSubstr("'x:[8]' would not be used"));
  }
}

TEST(ShapeGrid, BracesGiveASetForEachValue) {
  EXPECT_THAT(Expand({"X:[{1,2, 8},3]"}),
              ElementsAre(Set{"X:[1,3]"}, Set{"X:[2,3]"}, Set{"X:[8,3]"}));
}

TEST(ShapeGrid, DifferentBracesGiveEveryCombination) {
  EXPECT_THAT(Expand({"X:[{1,2},{32,64}]"}),
              ElementsAre(Set{"X:[1,32]"}, Set{"X:[1,64]"}, Set{"X:[2,32]"}, Set{"X:[2,64]"}));
}

TEST(ShapeGrid, TheSameBracesChangeTogether) {
  EXPECT_THAT(Expand({"ids:[{1,8},16]", "mask:[{1,8},16]"}),
              ElementsAre(Set{"ids:[1,16]", "mask:[1,16]"}, Set{"ids:[8,16]", "mask:[8,16]"}));
}

TEST(ShapeGrid, RefusesWhatIsNoGrid) {
  for (const char* word : {"X:[{1,2]", "X:[1}]", "X:[{}]", "X:[{1,,2}]", "X:[{1,{2,3}}]"}) {
    const Set words = {word};
    const Status status = ExpandShapeGrid(words).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << word;
    EXPECT_THAT(status.message(), HasSubstr(word));
  }
}

TEST(ShapeGrid, RefusesMoreSetsThanAnyoneWaitsFor) {
  std::string values = "0";
  for (int i = 1; i < 200; ++i) values += "," + std::to_string(i);
  const Set words = {"X:[{" + values + "},{" + values + ",7}]"};
  EXPECT_THAT(ExpandShapeGrid(words).status().message(), HasSubstr("10000"));
  Set plain(10'000, "X:[1]");
  EXPECT_TRUE(ExpandShapeGrid(plain).ok());
  plain.emplace_back("X:[2]");
  EXPECT_THAT(ExpandShapeGrid(plain).status().message(), HasSubstr("more than 10000 sets"));
}

TEST(ShapeGrid, RefusesUnderTheFlagOfTheWords) {
  for (const char* word : {"X:[{1,2]", "X:5", "X:[{1,2}]"}) {
    const Status status = RefuseSeveralShapes("--model-input-shapes", Set{word}, "this");
    EXPECT_TRUE(status.message().starts_with("--model-input-shapes: ")) << status.message();
  }
}

}  // namespace
}  // namespace vernier
