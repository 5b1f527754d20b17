#include "run/live/shared_threads.h"

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
using testing::Pair;

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
  for (const char* backend : {"onnxruntime", "openvino", "tensorflow", "identity"}) {
    plan.runners.emplace_back().backend = backend;
  }
  return plan;
}

TEST(SharedThreads, AreAtLeastOne) {
  EXPECT_EQ(ThreadsOfWorker(8, 2), 4u);
  EXPECT_EQ(ThreadsOfWorker(8, 3), 2u);
  EXPECT_EQ(ThreadsOfWorker(2, 64), 1u);
}

TEST(SharedThreads, GoToEveryRunnerThatTakesANumber) {
  const SetVariable processors("VERNIER_THREADS", "8");
  const SetVariable none("OMP_NUM_THREADS", nullptr);
  const RunPlan plan = WithSharedThreads(PlanWith(4));
  EXPECT_THAT(plan.runners[0].session_options, ElementsAre(Pair("intra_op_threads", "2")));
  EXPECT_THAT(plan.runners[1].session_options, ElementsAre(Pair("threads", "2")));
  EXPECT_THAT(plan.runners[2].session_options, ElementsAre(Pair("threads", "2")));
  EXPECT_THAT(plan.runners[3].session_options, IsEmpty());
  EXPECT_THAT(plan.execution.environment, ElementsAre("OMP_NUM_THREADS=2"));
  EXPECT_THAT(NoteOfSharedThreads(plan), HasSubstr("2 threads of 8 processors"));
}

TEST(SharedThreads, LeaveWhatWasGiven) {
  const SetVariable processors("VERNIER_THREADS", "8");
  const SetVariable none("OMP_NUM_THREADS", nullptr);
  RunPlan given = PlanWith(4);
  given.runners[0].session_options = {{"intra_op_threads", "7"}};
  given.execution.environment = {"OMP_NUM_THREADS=5"};
  const RunPlan plan = WithSharedThreads(given);
  EXPECT_THAT(plan.runners[0].session_options, ElementsAre(Pair("intra_op_threads", "7")));
  EXPECT_THAT(plan.execution.environment, ElementsAre("OMP_NUM_THREADS=5"));
}

TEST(SharedThreads, OfOneWorkerAreThoseOfTheFramework) {
  const RunPlan plan = WithSharedThreads(PlanWith(1));
  EXPECT_THAT(plan.runners[0].session_options, IsEmpty());
  EXPECT_THAT(plan.execution.environment, IsEmpty());
}

}  // namespace
}  // namespace vernier
