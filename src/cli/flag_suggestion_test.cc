#include "cli/flag_suggestion.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

TEST(SuggestFlag, NamesTheNearestFlag) {
  const OptionTable table = RunOptionTable();
  EXPECT_EQ(SuggestFlag(table, "--onxrt"), "--onnxrt");
  EXPECT_EQ(SuggestFlag(table, "--save-ouptuts=f"), "--save-outputs");
  EXPECT_EQ(SuggestFlag(table, "--opnevino"), "--openvino");
  EXPECT_EQ(SuggestFlag(table, "-rtol"), "--rtol");
}

TEST(SuggestFlag, KnowsFlagsThatPolygraphyUsedToHave) {
  const OptionTable table = RunOptionTable();
  EXPECT_EQ(SuggestFlag(table, "--int-max=5"), "--val-range");
}

TEST(SuggestFlag, IsSilentWhenNothingIsNear) {
  const OptionTable table = RunOptionTable();
  EXPECT_EQ(SuggestFlag(table, "--quite-another-thing"), std::nullopt);
  EXPECT_EQ(SuggestFlag(table, "model.onnx"), std::nullopt);
  EXPECT_EQ(SuggestFlag(table, "-"), std::nullopt);
  EXPECT_EQ(SuggestFlag(table, "-5x"), std::nullopt);
  EXPECT_EQ(SuggestFlag(table, "--" + std::string(100000, 'x')), std::nullopt);
}

}  // namespace
}  // namespace vernier
