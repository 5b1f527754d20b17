#include "util/files/shared_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "util/threads/memory_pages.h"

namespace vernier {
namespace {

std::vector<std::byte> Bytes(size_t count, int first) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(first + static_cast<int>(i));
  return bytes;
}

TEST(SharedMemory, PlacesHoldWhatWasWrittenBeforeItWasSealed) {
  const auto memory = SharedMemory::Create();
  ASSERT_TRUE(memory.ok());
  const std::vector<std::byte> first = Bytes(100'000, 1);
  const std::vector<std::byte> second = Bytes(70'001, 9);
  const auto reserved = (*memory)->Reserve(first.size());
  const auto allocated = (*memory)->Allocate(second.size());
  ASSERT_TRUE(reserved.ok() && allocated.ok());
  EXPECT_TRUE((*memory)->Write(*reserved, first).ok());
  std::ranges::copy(second, allocated->begin());
  ASSERT_TRUE((*memory)->Seal().ok());
  EXPECT_TRUE(std::ranges::equal(*reserved, first));
  EXPECT_TRUE(std::ranges::equal(*allocated, second));
}

TEST(SharedMemory, HugePagesHoldWhatSmallOnesWould) {
  const auto memory = SharedMemory::Create();
  ASSERT_TRUE(memory.ok());
  const std::vector<std::byte> small = Bytes(100, 3);
  const std::vector<std::byte> large = Bytes(9 * kHugePage + 70'001, 5);
  const auto first = (*memory)->Reserve(small.size());
  const auto reserved = (*memory)->Reserve(large.size());
  const auto allocated = (*memory)->Allocate(large.size());
  ASSERT_TRUE(first.ok() && reserved.ok() && allocated.ok());
  EXPECT_TRUE((*memory)->MakeHugePages(*reserved).ok());
  EXPECT_TRUE((*memory)->Write(*first, small).ok());
  EXPECT_TRUE((*memory)->Write(*reserved, large).ok());
  EXPECT_TRUE(std::ranges::all_of(*allocated, [](std::byte b) { return b == std::byte{0}; }));
  std::ranges::copy(large, allocated->begin());
  ASSERT_TRUE((*memory)->Seal().ok());
  EXPECT_TRUE(std::ranges::equal(*first, small));
  EXPECT_TRUE(std::ranges::equal(*reserved, large));
  EXPECT_TRUE(std::ranges::equal(*allocated, large));
  // Where none is available this is all that can be seen of them.
  for (const auto& place : {*reserved, *allocated}) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(place.data()) % kHugePage, 0u);
    EXPECT_EQ((*memory)->OffsetOf(place).value_or(1) % kHugePage, 0u);
  }
}

TEST(SharedMemory, RoomBetweenPlacesTakesNoMemory) {
  const auto memory = SharedMemory::Create();
  ASSERT_TRUE(memory.ok());
  for (int i = 0; i < 4; ++i) ASSERT_TRUE((*memory)->Allocate(kHugePage + 1).ok());
  struct stat info {};
  ASSERT_EQ(::fstat((*memory)->descriptor(), &info), 0);
  EXPECT_LE(static_cast<size_t>(info.st_blocks) * 512, 4 * (kHugePage + 65536));
}

TEST(SharedMemory, NobodyCanChangeItOnceItIsSealed) {
  const auto memory = SharedMemory::Create();
  ASSERT_TRUE(memory.ok());
  ASSERT_TRUE((*memory)->Allocate(5000).ok());
  ASSERT_TRUE((*memory)->Seal().ok());
  const std::byte one{1};
  EXPECT_FALSE((*memory)->WriteAt(0, std::span(&one, 1)).ok());
  EXPECT_FALSE((*memory)->Extend(1).ok());
  EXPECT_EQ(::mmap(nullptr, 1, PROT_WRITE, MAP_SHARED, (*memory)->descriptor(), 0), MAP_FAILED);
}

TEST(SharedMemory, WaitsWhileTheKernelHoldsAPage) {
  const auto memory = SharedMemory::Create();
  ASSERT_TRUE(memory.ok());
  const auto place = (*memory)->Allocate(4096);
  ASSERT_TRUE(place.ok());
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const UniqueFd out(ends[0]), in(ends[1]);
  // A page on its way through a pipe is held by it.
  const iovec page{place->data(), place->size()};
  ASSERT_EQ(::vmsplice(in.get(), &page, 1, 0), 4096);
  std::thread reader([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    std::array<std::byte, 4096> bytes{};
    EXPECT_EQ(::read(out.get(), bytes.data(), bytes.size()), 4096);
  });
  EXPECT_TRUE((*memory)->Seal().ok());
  reader.join();
  EXPECT_TRUE((*memory)->sealed());
}

TEST(SharedMemory, TellsWhereBytesLie) {
  const auto memory = SharedMemory::Create();
  ASSERT_TRUE(memory.ok());
  const auto first = (*memory)->Allocate(100);
  const auto second = (*memory)->Allocate(100);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ((*memory)->OffsetOf(*first), 0u);
  EXPECT_EQ((*memory)->OffsetOf(second->subspan(30, 70)).value_or(0) % 4096, 30u);
  const std::vector<std::byte> elsewhere(10);
  EXPECT_EQ((*memory)->OffsetOf(elsewhere), std::nullopt);
  // Beyond the end of a place.
  EXPECT_EQ((*memory)->OffsetOf({second->data() + 90, 20}), std::nullopt);
}

TEST(SharedMemory, RefusesWhatNoMachineHas) {
  const auto memory = SharedMemory::Create();
  ASSERT_TRUE(memory.ok());
  const auto place = (*memory)->Reserve(size_t{1} << 50);
  ASSERT_FALSE(place.ok());
  EXPECT_EQ(place.status().code(), StatusCode::kInternal);
  ASSERT_TRUE((*memory)->Extend(5000).ok());
  EXPECT_FALSE((*memory)->Extend(UINT64_MAX - 100).ok());
  EXPECT_EQ((*memory)->size(), 5000u);
}

}  // namespace
}  // namespace vernier
