#include "blame/sides/memory_plan.h"

#include <gtest/gtest.h>

namespace vernier {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr HeldMemory kHeld = {100 * kMiB, 40 * kMiB, 10 * kMiB};

TEST(PlanMemory, OneSessionAtATimeForOneFeed) {
  const MemoryPlan plan = PlanMemory(kHeld, 1000 * kMiB, 1, 1);
  EXPECT_EQ(plan.host_bytes, 1000 * kMiB);
  EXPECT_EQ(plan.held_bytes, (100 + 10 + 40 + 10) * kMiB);
  EXPECT_EQ(plan.after_use, AfterUse::kClose);
}

TEST(PlanMemory, SessionsStayOpenForMoreFeedsWhereThereIsRoom) {
  const MemoryPlan roomy = PlanMemory(kHeld, 1000 * kMiB, 3, 1);
  EXPECT_EQ(roomy.after_use, AfterUse::kKeepOpen);
  EXPECT_EQ(roomy.held_bytes, (100 + 10 + 5 * 50) * kMiB);
  const MemoryPlan narrow = PlanMemory(kHeld, 700 * kMiB, 3, 1);
  EXPECT_EQ(narrow.after_use, AfterUse::kClose);
  EXPECT_EQ(narrow.held_bytes, (100 + 10 + 50) * kMiB);
}

TEST(PlanMemory, BothSidesAtATimeWhereThereIsRoom) {
  const MemoryPlan roomy = PlanMemory(kHeld, 420 * kMiB, 1, 2);
  EXPECT_TRUE(roomy.side_by_side);
  EXPECT_EQ(roomy.held_bytes, (100 + 10 + 2 * 50) * kMiB);
  const MemoryPlan narrow = PlanMemory(kHeld, 419 * kMiB, 1, 2);
  EXPECT_FALSE(narrow.side_by_side);
  EXPECT_EQ(narrow.held_bytes, (100 + 10 + 50) * kMiB);
  EXPECT_FALSE(PlanMemory(kHeld, 420 * kMiB, 1, 1).side_by_side);
}

TEST(PlanMemory, WithoutALimitThereIsOne) {
  const MemoryPlan plan = PlanMemory(kHeld, 0, 1, 1);
  EXPECT_GE(plan.host_bytes, plan.held_bytes + 64 * kMiB);
  EXPECT_LE(plan.host_bytes, plan.held_bytes + 4096 * kMiB);
}

}  // namespace
}  // namespace vernier
