#include "report/text/step_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vernier {
namespace {

using testing::HasSubstr;

// One output of six steps, in none of which a number differs.
PairRecord PairWithoutError(int64_t not_verified) {
  PairRecord pair;
  pair.first = "a";
  pair.second = "b";
  OutputRecord& output = pair.outputs.emplace_back();
  output.name = "y";
  output.not_verified = not_verified;
  output.time.emplace();
  output.time->steps = 6;
  output.time->largest_rms = 0.0;
  return pair;
}

TEST(StepText, OnlyStepsThatWereJudgedHaveNoError) {
  EXPECT_THAT(FormatSteps(PairWithoutError(0)),
              HasSubstr("is 0 at every step; no step is out of tolerance"));
  EXPECT_THAT(FormatSteps(PairWithoutError(2)),
              HasSubstr("is 0 at every step that could be judged; 2 steps could not be judged"));
}

}  // namespace
}  // namespace vernier
