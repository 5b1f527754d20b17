#include "blame/judge/within_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "blame/judge/layer_for_test.h"

namespace vernier {
namespace {

using testing::HasSubstr;
using testing::Not;

BlameRecord Within() {
  BlameRecord record;
  record.layers = {LayerForTest("c1", "x", 0.25, 0.25), LayerForTest("c2", "c1_out", 0.5, 0.125)};
  return record;
}

TEST(WithinBounds, NamesTheLayerThatErrsMostByItself) {
  EXPECT_EQ(LargestOwnError(Within().layers), "0.25 times its error bound, of 'c1' (MatMul)");
  BlameRecord fused = Within();
  fused.layers[1].fused_error = 0.75;
  EXPECT_EQ(LargestOwnError(fused.layers), "0.75 times its error bound, of 'c2' (MatMul)");
}

TEST(WithinBounds, NamesNoLayerWhereNoneErrs) {
  const BlameLayerRecord inherits = LayerForTest("c1", "x", 0.5, 0),
                         unknown = LayerForTest("c2", "x", 0.5, std::nullopt);
  EXPECT_EQ(LargestOwnError({}), "");
  EXPECT_EQ(LargestOwnError(std::vector{inherits, unknown}), "");
}

TEST(WithinBounds, SaysThatTheRunFailedAndWhatToDo) {
  const std::string failed = "output 'y' is 3 times over";
  const std::string text = DescribeWithinBounds({failed}, "", "", Within());
  EXPECT_THAT(text, HasSubstr("No layer by itself exceeds its error bound, but output 'y' is 3 "
                              "times over; the largest error of a layer by itself is 0.25 times"));
  EXPECT_THAT(text, HasSubstr("--tolerance auto"));
  // Which was asked for already.
  EXPECT_THAT(DescribeWithinBounds({failed, "", true}, "", "", Within()),
              Not(HasSubstr("--tolerance auto")));
  // No tolerance excuses what was not examined.
  const std::string unseen =
      DescribeWithinBounds({failed}, "", "output 'y' was not examined", Within());
  EXPECT_THAT(unseen,
              HasSubstr("; output 'y' was not examined, so the layer that produces it may be to "
                        "blame"));
  EXPECT_THAT(unseen, Not(HasSubstr("--tolerance auto")));
}

}  // namespace
}  // namespace vernier
