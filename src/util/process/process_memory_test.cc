#include "util/process/process_memory.h"

#include <gtest/gtest.h>

#include <memory>

namespace vernier {
namespace {

TEST(ResidentMemoryOf, GrowsWithWhatIsTouched) {
  const std::optional<uint64_t> before = ResidentMemoryOf("self");
  ASSERT_TRUE(before);
  EXPECT_GT(*before, 0U);
  constexpr size_t kBytes = size_t{64} << 20;
  const auto touched = std::make_unique<volatile char[]>(kBytes);
  for (size_t i = 0; i < kBytes; i += 4096) touched[i] = 1;
  EXPECT_GE(*ResidentMemoryOf("self"), *before + kBytes / 2);
}

TEST(ResidentMemoryOf, NobodyHoldsNothing) {
  EXPECT_FALSE(ResidentMemoryOf("0"));
  EXPECT_FALSE(ResidentMemoryOf(""));
}

TEST(FindFreeMemory, SwapAddsToIt) {
  const std::optional<FreeMemory> free = FindFreeMemory();
  ASSERT_TRUE(free);
  EXPECT_GT(free->in_memory, uint64_t{1} << 20);
  EXPECT_GE(free->with_swap, free->in_memory);
}

}  // namespace
}  // namespace vernier
