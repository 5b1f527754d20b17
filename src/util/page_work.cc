#include "util/page_work.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <vector>

#include "util/thread_pool.h"

namespace vernier {
namespace {

constexpr size_t kWorthThread = size_t{32} << 20;

// madvise(2), in as many parts as are worth a thread. Where none can be had, the part waits for us.
void Advise(std::span<const std::byte> pages, int advice) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t most = std::min<size_t>(DefaultThreadCount(), 8);
  const size_t count = std::clamp<size_t>(pages.size() / kWorthThread, 1, most);
  const size_t share = (pages.size() / count + page - 1) / page * page;
  const auto advise = [=](size_t begin) {
    auto* const first = const_cast<std::byte*>(pages.data()) + begin;
    ::madvise(first, std::min(share, pages.size() - begin), advice);
  };
  std::vector<std::future<void>> others;
  for (size_t begin = share; begin < pages.size(); begin += share) {
    others.push_back(std::async(advise, begin));
  }
  advise(0);
  for (std::future<void>& other : others) other.get();
}

}  // namespace

void MakePages(std::span<const std::byte> pages) {
#ifdef MADV_POPULATE_WRITE
  if (!pages.empty()) Advise(pages, MADV_POPULATE_WRITE);
#else
  (void)pages;
#endif
}

void MapPages(std::span<const std::byte> pages) {
#ifdef MADV_POPULATE_READ
  if (!pages.empty()) Advise(pages, MADV_POPULATE_READ);
#else
  (void)pages;
#endif
}

void DropPages(std::span<const std::byte> pages) {
  if (!pages.empty()) Advise(pages, MADV_DONTNEED);
}

void UnmapPages(std::span<const std::byte> pages) {
  // For fewer there is nothing to share: munmap does the same.
  if (pages.size() >= 2 * kWorthThread) DropPages(pages);
}

}  // namespace vernier
