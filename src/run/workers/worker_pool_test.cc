#include "run/workers/worker_pool.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>

#include "run/workers/fake_workers.h"
#include "util/log/no_log.h"

namespace vernier {
namespace {

TEST(WorkerPool, ADeadWorkerIsNotHandedOutAgain) {
  int connections = 0;
  Embedder caller;
  caller.connect = [&connections] {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    ::close(ends[1]);  // and so nothing serves it
    ++connections;
    return ends[0];
  };
  const ExecutionPlan plan;
  const std::atomic<int> interrupted{0};
  NoLog log;
  WorkerPool pool(plan, interrupted, log, &caller);
  RunnerPlan runner;
  runner.name = "mine";
  runner.backend = "python";
  runner.backend_options.emplace_back(kServedByCaller, "1");
  const Result<std::shared_ptr<Worker>> first = pool.Get(runner);
  ASSERT_TRUE(first.ok()) << first.status().message();
  EXPECT_EQ(*pool.Get(runner), *first);
  EXPECT_EQ((*first)->AwaitLoad().status().code(), StatusCode::kBackend);
  // Somebody still holds the first one.
  const Result<std::shared_ptr<Worker>> second = pool.Get(runner);
  ASSERT_TRUE(second.ok()) << second.status().message();
  EXPECT_NE(*second, *first);
  EXPECT_EQ(connections, 2);
}

RunnerPlan FakeRunner(std::string name) {
  RunnerPlan runner;
  runner.name = std::move(name);
  runner.backend = "fake";
  return runner;
}

class PooledWorkers : public testing::Test {
 protected:
  PooledWorkers() { caller_.workers = &workers_; }

  // The worker that the pool gives for the runner, whose framework has been waited for.
  std::shared_ptr<Worker> Get(WorkerPool& pool, const RunnerPlan& runner) {
    const Result<std::shared_ptr<Worker>> worker = pool.Get(runner);
    EXPECT_TRUE(worker.ok()) << worker.status().message();
    if (!worker.ok()) return nullptr;
    EXPECT_TRUE((*worker)->AwaitLoad().ok());
    return *worker;
  }

  ExecutionPlan plan_;
  const std::atomic<int> interrupted_{0};
  NoLog log_;
  testing_workers::FakeWorkers workers_{{}, interrupted_, log_};
  Embedder caller_;
};

TEST_F(PooledWorkers, AreSharedByRunnersWithTheSameBackendOptions) {
  WorkerPool pool(plan_, interrupted_, log_, &caller_);
  const auto first = Get(pool, FakeRunner("a"));
  EXPECT_EQ(Get(pool, FakeRunner("b")), first);
  RunnerPlan other = FakeRunner("c");
  other.backend_options.emplace_back("lib", "/another/libframework.so");
  EXPECT_NE(Get(pool, other), first);
}

TEST_F(PooledWorkers, AreNotSharedByRunnersThatInferSideBySide) {
  plan_.parallel = true;
  WorkerPool pool(plan_, interrupted_, log_, &caller_);
  const auto first = Get(pool, FakeRunner("a"));
  EXPECT_NE(Get(pool, FakeRunner("b")), first);
}

TEST_F(PooledWorkers, EndWithTheirLastRunnerUnlessTheyAreKept) {
  WorkerPool pool(plan_, interrupted_, log_, &caller_);
  Get(pool, FakeRunner("a"));
  Get(pool, FakeRunner("a"));
  EXPECT_EQ(workers_.started(), 2u);
  KeptWorkers kept;
  caller_.kept_workers = &kept;
  Get(pool, FakeRunner("a"));
  WorkerPool next(plan_, interrupted_, log_, &caller_);
  Get(next, FakeRunner("a"));
  EXPECT_EQ(workers_.started(), 3u);
  EXPECT_EQ(kept.size(), 1u);
}

TEST_F(PooledWorkers, SayWhatIsMissing) {
  WorkerPool pool(plan_, interrupted_, log_, &caller_);
  RunnerPlan missing = FakeRunner("a");
  missing.backend = "another";
  EXPECT_EQ(pool.Get(missing).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(pool.GetForScripts().status().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace vernier
