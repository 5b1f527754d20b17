#include "run/worker_pool.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>

namespace vernier {
namespace {

class NoLog final : public Logger {
 public:
  bool Enabled(Severity) const override { return false; }
  void Write(Severity, std::string_view, LogColor, bool) override {}
  void Indent(int) override {}
};

TEST(WorkerPool, ADeadWorkerIsNotHandedOutAgain) {
  int connections = 0;
  CallerObjects caller;
  caller.connect = [&connections] {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    ::close(ends[1]);  // and so nobody serves it
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

}  // namespace
}  // namespace vernier
