// Arrays block by block, over threads. Internal to kernels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/elements/element_blocks.h"
#include "util/threads/thread_pool.h"

namespace vernier {

/// Adds [0, count) up: `add(totals, start, n)` for blocks of at most kBlockSize elements, on the
/// threads of `pool` (null: on this one), each with a copy of `empty`; copies are put together by
/// Totals::Merge, in any order.
template <typename Totals, typename Add>
Totals AddUpBlocks(int64_t count, ThreadPool* pool, const Totals& empty, Add add) {
  constexpr auto kBlock = static_cast<int64_t>(kBlockSize);
  constexpr int64_t kChunk = 64 * kBlock;
  // Fewer are not worth waking threads for.
  ThreadPool* const helpers = count > 3 * kChunk ? pool : nullptr;
  std::vector<Totals> totals(helpers == nullptr ? 1 : helpers->thread_count(), empty);
  RunTasks(helpers, static_cast<size_t>((count + kChunk - 1) / kChunk),
           [&](size_t chunk, size_t thread) {
             const int64_t begin = static_cast<int64_t>(chunk) * kChunk;
             const int64_t end = std::min(count, begin + kChunk);
             for (int64_t start = begin; start < end; start += kBlock) {
               add(totals[thread], start, static_cast<size_t>(std::min(kBlock, end - start)));
             }
           });
  for (size_t i = 1; i < totals.size(); ++i) totals[0].Merge(totals[i]);
  return std::move(totals[0]);
}

}  // namespace vernier
