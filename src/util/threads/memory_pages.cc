#include "util/threads/memory_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <vector>

#include "util/threads/thread_pool.h"

namespace vernier {
namespace {

constexpr size_t kWorthThread = size_t{32} << 20;
constexpr size_t kWorthHugePages = 4 * kHugePage;
constexpr int kCollapse = 25;  // MADV_COLLAPSE of Linux 6.1, which Debian 12's headers lack

using Pages = std::span<const std::byte>;

int Advise(Pages pages, int advice) {
  return ::madvise(const_cast<std::byte*>(pages.data()), pages.size(), advice);
}

// `work` on as many parts of the pages as are worth a thread. If no thread is available, get() does
// this synchronously.
template <typename Work>
void InParts(Pages pages, Work work) {
  const size_t most = std::min<size_t>(DefaultThreadCount(), 8);
  const size_t count = std::clamp<size_t>(pages.size() / kWorthThread, 1, most);
  const size_t share = (pages.size() / count + kHugePage - 1) / kHugePage * kHugePage;
  std::vector<std::future<void>> others;
  for (size_t begin = share; begin < pages.size(); begin += share) {
    const Pages part = pages.subspan(begin, std::min(share, pages.size() - begin));
    others.push_back(std::async([part, work] { work(part); }));
  }
  work(pages.first(std::min(share, pages.size())));
  for (std::future<void>& other : others) other.get();
}

// The part that whole huge pages cover.
Pages HugePagesWithin(Pages pages) {
  const auto address = reinterpret_cast<uintptr_t>(pages.data());
  const size_t before = (kHugePage - address % kHugePage) % kHugePage;
  if (pages.size() < before + kHugePage) return {};
  return pages.subspan(before, (pages.size() - before) / kHugePage * kHugePage);
}

// The kernel gathers the small pages that are there, one at least, and adds what is missing.
bool MakeHugePage(Pages page) {
  auto* const first = reinterpret_cast<volatile std::byte*>(const_cast<std::byte*>(page.data()));
  *first = *first;
  return Advise(page, kCollapse) == 0;
}

template <typename Work>
auto TimeOf(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::steady_clock::now() - start;
}

}  // namespace

void MakeHugePages(std::span<const std::byte> pages) {
#ifdef MADV_POPULATE_WRITE
  Pages rest = HugePagesWithin(pages);
  if (rest.size() < kWorthHugePages) return;
  const auto limit = TimeOf([&] { Advise(rest.first(kHugePage), MADV_POPULATE_WRITE); });
  // Each that cost more has twice as many stay small before the next is tried.
  for (size_t step = 1; rest.size() > step * kHugePage;) {
    rest = rest.subspan(step * kHugePage);
    bool made = false;
    const auto cost = TimeOf([&] { made = MakeHugePage(rest.first(kHugePage)); });
    step = made && cost < limit ? 1 : 2 * step;
  }
#else
  (void)pages;
#endif
}

void MakePages(std::span<const std::byte> pages) {
#ifdef MADV_POPULATE_WRITE
  if (pages.empty()) return;
  InParts(pages, [](Pages part) {
    MakeHugePages(part);
    Advise(part, MADV_POPULATE_WRITE);
  });
#else
  (void)pages;
#endif
}

void MapPages(std::span<const std::byte> pages) {
#ifdef MADV_POPULATE_READ
  if (!pages.empty()) InParts(pages, [](Pages part) { Advise(part, MADV_POPULATE_READ); });
#else
  (void)pages;
#endif
}

void DropPages(std::span<const std::byte> pages) {
  if (!pages.empty()) InParts(pages, [](Pages part) { Advise(part, MADV_DONTNEED); });
}

void DropPagesWithin(std::span<const std::byte> part) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t before = (page - reinterpret_cast<uintptr_t>(part.data()) % page) % page;
  if (part.size() < before + page) return;
  DropPages(part.subspan(before, (part.size() - before) / page * page));
}

void UnmapPages(std::span<const std::byte> pages) {
  // For fewer there is nothing to share: munmap does the same.
  if (pages.size() >= 2 * kWorthThread) DropPages(pages);
}

}  // namespace vernier
