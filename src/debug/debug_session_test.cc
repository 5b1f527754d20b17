#include "debug/debug_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "debug/repetition.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::atomic<int> kNever{0};

// A session whose check is this line of a shell.
DebugSessionPlan PlanOfLine(const std::string& line) {
  DebugSessionPlan plan;
  plan.check.command = {"sh", "-c", line};
  return plan;
}

std::string FreshFolder(const char* name) {
  const fs::path folder = fs::path(testing::TempDir()) / "debug_session" / name;
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder.string();
}

// Whether one iteration passes; the error of the session otherwise.
Result<bool> Passes(DebugSessionPlan plan) {
  NoLog log;
  VERNIER_ASSIGN_OR_RETURN(DebugSession session, DebugSession::Open(std::move(plan), kNever, log));
  return session.Passes({});
}

TEST(DebugSession, JudgesByExitCodesAndByWhatIsPrinted) {
  EXPECT_TRUE(*Passes(PlanOfLine("exit 0")));
  EXPECT_FALSE(*Passes(PlanOfLine("exit 3")));
  DebugSessionPlan other = PlanOfLine("exit 3");
  other.check.fail_codes = {4};
  EXPECT_TRUE(*Passes(other));
  DebugSessionPlan ignored = PlanOfLine("exit 3");
  ignored.check.ignored_codes = {3};
  EXPECT_TRUE(*Passes(ignored));
  DebugSessionPlan printed = PlanOfLine("echo it is broken");
  printed.check.fail_patterns = {"^it .*broken$"};
  EXPECT_FALSE(*Passes(printed));
}

// Whether a check that prints this passes where a line that the pattern matches fails it.
bool PassesWith(const std::string& line, const std::string& pattern) {
  DebugSessionPlan plan = PlanOfLine(line);
  plan.check.fail_patterns = {pattern};
  return *Passes(std::move(plan));
}

TEST(DebugSession, LooksForPatternsInBothStreamsLineByLine) {
  EXPECT_FALSE(PassesWith("printf 5; echo ERROR: x >&2", "^ERROR"));
  EXPECT_TRUE(PassesWith("printf 5; echo ERROR: x >&2", "^5ERROR"));
  EXPECT_FALSE(PassesWith("echo first; echo ERROR >&2", "^first$"));
  const std::string long_line = "head -c 1000000 /dev/zero | tr '\\0' a; ";
  EXPECT_TRUE(PassesWith(long_line + "echo; echo end", "^a.*x"));
  EXPECT_FALSE(PassesWith(long_line + "echo; echo end", "^end$"));
}

TEST(DebugSession, RefusesWhatCannotWork) {
  DebugSessionPlan pattern = PlanOfLine("true");
  pattern.check.fail_patterns = {"("};
  EXPECT_EQ(Passes(pattern).status().code(), StatusCode::kInvalidArgument);
  DebugSessionPlan artifact = PlanOfLine("true");
  artifact.artifact = FreshFolder("artifact");  // which is there
  EXPECT_THAT(Passes(artifact).status().message(), HasSubstr("already exists"));
  DebugSessionPlan jobs = PlanOfLine("true");
  jobs.artifact = FreshFolder("jobs") + "/trial.onnx";
  jobs.jobs = 2;
  EXPECT_THAT(Passes(jobs).status().message(), HasSubstr("does not name"));
}

TEST(DebugSession, TakesAnswersFromAReplay) {
  const std::string folder = FreshFolder("replay");
  DebugSessionPlan first = PlanOfLine("exit 1");
  first.save_replay = folder + "/replay.json";
  EXPECT_FALSE(*Passes(first));
  DebugSessionPlan again = PlanOfLine("exit 0");
  again.load_replay = first.save_replay;
  EXPECT_FALSE(*Passes(again));
}

TEST(Repeat, EndsWithTheIterationThatIsWaitedFor) {
  const std::string count = FreshFolder("repeat") + "/count";
  NoLog log;
  // Two iterations pass, the third fails.
  Result<DebugSession> session = DebugSession::Open(
      PlanOfLine("echo x >> " + count + "; test $(wc -l < " + count + ") -lt 3"), kNever, log);
  ASSERT_TRUE(session.ok()) << session.status().message();
  ASSERT_TRUE(Repeat({}, {std::nullopt, false}, *session, log).ok());
  EXPECT_EQ(session->iterations(), 3);
}

}  // namespace
}  // namespace vernier
