// A sample of a pair's series, from which their rank plans are made. Internal to kernels.
#pragma once

#include <functional>

#include "kernels/measures/chunk_scanner.h"

namespace vernier {

/// How many places are looked at first, and how many afterwards, of which only the values near
/// wanted ranks are kept; 0: none. No first sample: everything is kept.
struct SampleSizes {
  int64_t first = 0;
  int64_t second = 0;
};
SampleSizes SampleSizesFor(int64_t count);

/// Empty plans for series of which no ranks are wanted, or whose sample holds a NaN.
template <typename T>
typename ChunkScanner<T>::RankPlans MakeRankPlans(
    const PairSource<T>& source, const ScanPlan& plan,
    const std::array<std::vector<int64_t>, kSeriesCount>& ranks, const SampleSizes& sizes,
    ThreadPool* pool);

/// Calls `task(index, thread)` for each index below `count`: by the pool, or here without one.
void RunTasks(ThreadPool* pool, size_t count,
              const std::function<void(size_t index, size_t thread)>& task);

}  // namespace vernier
