#include "util/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <vector>

namespace vernier {
namespace {

TEST(ThreadPool, CallsEachTaskOnce) {
  for (const size_t threads : {1u, 2u, 7u}) {
    ThreadPool pool(threads);
    for (const size_t count : {0u, 1u, 2u, 1000u}) {
      std::vector<std::atomic<int>> calls(count);
      std::atomic<bool> numbered = true;
      pool.Run(count, [&](size_t index, size_t thread) {
        ++calls[index];
        if (thread >= threads) numbered = false;
      });
      for (const auto& call : calls) EXPECT_EQ(call, 1);
      EXPECT_TRUE(numbered);
    }
  }
}

TEST(ThreadPool, TakesItsSizeFromTheEnvironment) {
  setenv("VERNIER_THREADS", "3", 1);
  EXPECT_EQ(DefaultThreadCount(), 3u);
  for (const char* nonsense : {"", "0", "-1", "two", "2x"}) {
    setenv("VERNIER_THREADS", nonsense, 1);
    const size_t fallback = DefaultThreadCount();
    unsetenv("VERNIER_THREADS");
    EXPECT_EQ(fallback, DefaultThreadCount()) << nonsense;
  }
}

}  // namespace
}  // namespace vernier
