// --compare-state beside what leaves out the states.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/steps/step_runs_for_test.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

using testing::HasSubstr;
using testing_workers::Recurs;
using testing_workers::StepRunsTest;

class ComparedStatesTest : public StepRunsTest {
 protected:
  ComparedStatesTest() { plan_.steps.compare_state = true; }

  std::string Error() {
    plan_.runners.clear();
    return Run({{"a", Recurs(1)}, {"b", Recurs(1)}}).record.error;
  }
};

TEST_F(ComparedStatesTest, LogitsOfOtherOutputsLeaveThemOut) {
  plan_.compare->functions = {CompareFunction::kLogits};
  plan_.compare->logits_axis.entries = {{"y", -1}};
  EXPECT_THAT(Error(), HasSubstr("--compare-state: --compare logits alone leaves out what is fed "
                                 "back: add --compare simple"));
  plan_.compare->logits_axis.entries = {{"state_n", -1}};
  EXPECT_EQ(Error(), "");
  plan_.compare->logits_axis.entries = {{"y", -1}};
  plan_.compare->functions = {CompareFunction::kSimple, CompareFunction::kLogits};
  EXPECT_EQ(Error(), "");
}

TEST_F(ComparedStatesTest, MapsMayLeaveThemOut) {
  for (const char* word : {"state_n=", "state*=", "a:state_n="}) {
    plan_.output_map_words = {word};
    const std::string error = Error();
    if (word[0] == 'a') {
      EXPECT_EQ(error, "");  // that of the other has no counterpart
    } else {
      EXPECT_THAT(error, HasSubstr("--compare-state: --map-outputs leaves out everything that is "
                                   "fed back"));
    }
  }
}

}  // namespace
}  // namespace vernier
