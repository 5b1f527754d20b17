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
}

}  // namespace
}  // namespace vernier
