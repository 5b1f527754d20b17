#include "util/threads/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cstdlib>
#include <vector>

#include "util/threads/allowed_processors.h"

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

TEST(AllowedProcessors, AreThoseOfTheAffinity) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(before), &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i) {
    if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(AllowedProcessors(), 1U);
  ASSERT_EQ(::sched_setaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(AllowedProcessors(), static_cast<size_t>(CPU_COUNT(&before)));
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
