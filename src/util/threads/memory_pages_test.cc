#include "util/threads/memory_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

namespace vernier {
namespace {

// In a process of its own: it can never have a thread again.
[[noreturn]] void WorkWithoutThreads() {
  constexpr uid_t kNobody = 65534;
  constexpr size_t kSize = size_t{100} << 20;
  const rlimit none{0, 0};
  // Root has no such limit.
  const bool limited =
      (::getuid() != 0 || ::setuid(kNobody) == 0) && ::setrlimit(RLIMIT_NPROC, &none) == 0;
  ::setenv("VERNIER_THREADS", "4", 1);
  void* const memory =
      ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (!limited || memory == MAP_FAILED) std::_Exit(2);
  const std::span pages(static_cast<std::byte*>(memory), kSize);
  MakePages(pages);
  pages.back() = std::byte{7};
  UnmapPages(pages);
  MapPages(pages);
  std::_Exit(pages.back() == std::byte{7} ? 0 : 1);
}

TEST(PageWork, IsDoneWhereNoThreadCanBeHad) {
  EXPECT_EXIT(WorkWithoutThreads(), testing::ExitedWithCode(0), "");
}

TEST(PageWork, HugePagesKeepWhatWasThere) {
  constexpr size_t kSize = 12 * kHugePage;
  void* const memory =
      ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const std::span bytes(static_cast<std::byte*>(memory), kSize);
  const auto expected = [](size_t at) { return static_cast<std::byte>(at / 4096 + 1); };
  for (size_t at = 0; at < kSize; at += 4096) bytes[at] = expected(at);
  MakeHugePages(bytes);
  size_t kept = 0;
  for (size_t at = 0; at < kSize; at += 4096) kept += bytes[at] == expected(at) ? 1 : 0;
  EXPECT_EQ(kept, kSize / 4096);
  ::munmap(memory, kSize);
}

TEST(PageWork, PagesOfASharedMapComeBackAsTheyWere) {
  constexpr size_t kSize = 10 * 4096;
  void* const memory =
      ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const std::span bytes(static_cast<std::byte*>(memory), kSize);
  for (size_t at = 0; at < kSize; ++at) bytes[at] = static_cast<std::byte>(at % 251);
  DropPagesWithin(bytes.subspan(100, 100));
  DropPagesWithin(bytes.subspan(100, kSize - 200));
  size_t kept = 0;
  for (size_t at = 0; at < kSize; ++at)
    kept += bytes[at] == static_cast<std::byte>(at % 251) ? 1 : 0;
  EXPECT_EQ(kept, kSize);
  ::munmap(memory, kSize);
}

}  // namespace
}  // namespace vernier
