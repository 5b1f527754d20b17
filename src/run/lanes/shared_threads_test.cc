#include "run/lanes/shared_threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr OptionMeaning kThreads = OptionMeaning::kThreads;

// Sets an environment variable for a scope; null removes it.
class SetVariable {
 public:
  SetVariable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    had_one_ = std::getenv(name) != nullptr;
    Set(value);
  }
  ~SetVariable() { Set(had_one_ ? before_.c_str() : nullptr); }
  SetVariable(const SetVariable&) = delete;
  SetVariable& operator=(const SetVariable&) = delete;

 private:
  void Set(const char* value) {
    if (value == nullptr) {
      ::unsetenv(name_);
    } else {
      ::setenv(name_, value, 1);
    }
  }
  const char* name_;
  std::string before_;
  bool had_one_ = false;
};

RunPlan PlanWith(int64_t workers) {
  RunPlan plan;
  plan.execution.workers_per_runner = workers;
  plan.runners.emplace_back();
  return plan;
}

TEST(SharedThreads, AreAtLeastOne) {
  EXPECT_EQ(ThreadsOfWorker(8, 2), 4u);
  EXPECT_EQ(ThreadsOfWorker(8, 3), 2u);
  EXPECT_EQ(ThreadsOfWorker(2, 64), 1u);
}

// A backend whose sessions are given their threads, and one whose are not.
BackendInfo WithOption() {
  BackendInfo backend;
  backend.options.push_back(
      {.name = "pool", .type = "int", .default_value = "", .help = "", .means = kThreads});
  return backend;
}

TEST(SharedThreads, AreThoseOfTheProcessorsDivided) {
  const SetVariable processors("VERNIER_THREADS", "8");
  const SetVariable none("OMP_NUM_THREADS", nullptr);
  const RunPlan plan = WithSharedThreads(PlanWith(4));
  EXPECT_EQ(SharedThreads(plan), 2U);
  EXPECT_THAT(plan.execution.environment, ElementsAre("OMP_NUM_THREADS=2"));
  EXPECT_THAT(NoteOfSharedThreads(plan), HasSubstr("2 threads of 8 processors"));
  for (const BackendInfo& backend : {WithOption(), BackendInfo()}) {
    EXPECT_EQ(ThreadsOfRunner(plan, plan.runners[0], backend), 2);
  }
}

TEST(SharedThreads, LeaveWhatWasGiven) {
  const SetVariable processors("VERNIER_THREADS", "8");
  const SetVariable none("OMP_NUM_THREADS", nullptr);
  RunPlan given = PlanWith(4);
  given.runners[0].session_options = {{"pool", "7"}};
  given.execution.environment = {"OMP_NUM_THREADS=5"};
  const RunPlan plan = WithSharedThreads(given);
  EXPECT_THAT(plan.execution.environment, ElementsAre("OMP_NUM_THREADS=5"));
  EXPECT_EQ(ThreadsOfRunner(plan, plan.runners[0], WithOption()), 7);
  EXPECT_EQ(ThreadsOfRunner(plan, plan.runners[0], BackendInfo()), 5);
}

TEST(SharedThreads, OfOneWorkerAreThoseOfTheFramework) {
  const SetVariable processors("VERNIER_THREADS", "8");
  const SetVariable none("OMP_NUM_THREADS", nullptr);
  const RunPlan plan = WithSharedThreads(PlanWith(1));
  EXPECT_EQ(SharedThreads(plan), std::nullopt);
  EXPECT_THAT(plan.execution.environment, IsEmpty());
  EXPECT_EQ(ThreadsOfRunner(plan, plan.runners[0], WithOption()), 8);
}

}  // namespace
}  // namespace vernier
