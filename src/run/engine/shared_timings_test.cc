#include "run/engine/shared_timings.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/wire/messages.h"
#include "run/runner/resolve_runner.h"

namespace vernier {
namespace {

RunnerPlan PlanOf(std::string backend, OptionList options = {}) {
  RunnerPlan runner;
  runner.backend = std::move(backend);
  runner.session_options = std::move(options);
  return runner;
}

TEST(ShareTimings, BuildersOfOneCommandHaveOneFile) {
  std::vector<RunnerPlan> runners = {PlanOf("onnxruntime"), PlanOf("tensorrt"), PlanOf("tensorrt")};
  const std::optional<ScratchFolder> folder = ShareTimings(runners);
  ASSERT_TRUE(folder);
  EXPECT_TRUE(runners[0].session_options.empty());
  EXPECT_TRUE(HasOption(runners[1], "keep_timings", "1"));
  EXPECT_TRUE(HasOption(runners[1], "command_timings", folder->path() + "/timings"));
  EXPECT_EQ(runners[1].session_options, runners[2].session_options);
  // Whoever runs them next has nothing to add.
  const OptionList before = runners[1].session_options;
  EXPECT_FALSE(ShareTimings(runners));
  EXPECT_EQ(runners[1].session_options, before);
}

TEST(ShareTimings, AFolderOfTheUserTakesItsPlace) {
  std::vector<RunnerPlan> runners = {PlanOf("tensorrt", {{"timing_cache_dir", "/kept"}})};
  EXPECT_FALSE(ShareTimings(runners));
  EXPECT_TRUE(HasOption(runners[0], "keep_timings", "1"));
  EXPECT_FALSE(HasOption(runners[0], "command_timings"));
}

TEST(ShareTimings, NotBesideTactics) {
  std::vector<RunnerPlan> runners = {PlanOf("tensorrt", {{"load_tactics", "t.json"}})};
  EXPECT_FALSE(ShareTimings(runners));
  EXPECT_EQ(runners[0].session_options.size(), 1U);
}

}  // namespace
}  // namespace vernier
