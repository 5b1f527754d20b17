#include "kernels/measures/rank_sample.h"

#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

#include "util/threads/thread_pool.h"

namespace vernier {
namespace {

constexpr int64_t kSampleTask = 4 * static_cast<int64_t>(kBlockSize);

// One place in each of `size` equal stretches, at random, so that no period of the data can hide;
// the same places for the same count.
int64_t SamplePlace(int64_t index, int64_t size, int64_t count) {
  const auto begin = static_cast<int64_t>(static_cast<double>(index) * static_cast<double>(count) /
                                          static_cast<double>(size));
  uint64_t hash = static_cast<uint64_t>(index) * 0x9e3779b97f4a7c15u;
  hash = (hash ^ (hash >> 31)) * 0xbf58476d1ce4e5b9u;
  hash ^= hash >> 29;
  const auto width = static_cast<uint64_t>(std::max<int64_t>(1, count / size));
  return std::min(count - 1, begin + static_cast<int64_t>(hash % width));
}

template <typename Raw>
void GatherRaw(const ElementSpan& from, int64_t size, int64_t begin, int64_t end, std::byte* to) {
  for (int64_t i = begin; i < end; ++i) {
    const auto place = static_cast<size_t>(SamplePlace(i, size, from.count));
    std::memcpy(to + static_cast<size_t>(i - begin) * sizeof(Raw),
                from.bytes.data() + place * sizeof(Raw), sizeof(Raw));
  }
}

void GatherNibbles(const ElementSpan& from, int64_t size, int64_t begin, int64_t end,
                   std::byte* to) {
  for (int64_t i = begin; i < end; ++i) {
    const auto place = static_cast<size_t>(SamplePlace(i, size, from.count));
    const std::byte nibble = (from.bytes[place / 2] >> (4 * (place % 2))) & std::byte{0xf};
    std::byte& target = to[(i - begin) / 2];
    target = i % 2 == 0 ? nibble : target | (nibble << 4);
  }
}

// Elements [begin, end) of a sample of `size`; `begin` is even.
void Gather(const ElementSpan& from, int64_t size, int64_t begin, int64_t end, std::byte* to) {
  switch (BitsOf(from.dtype)) {
    case 4:
      return GatherNibbles(from, size, begin, end, to);
    case 8:
      return GatherRaw<uint8_t>(from, size, begin, end, to);
    case 16:
      return GatherRaw<uint16_t>(from, size, begin, end, to);
    case 32:
      return GatherRaw<uint32_t>(from, size, begin, end, to);
    default:
      return GatherRaw<uint64_t>(from, size, begin, end, to);
  }
}

/// Calls `keep(series, values, start, n, thread)` for the blocks of a sample.
template <typename T, typename Keep>
void Draw(const PairSource<T>& source, const ScanPlan& plan, int64_t size, ThreadPool* pool,
          Keep keep) {
  const auto draw_part = [&](size_t task, size_t thread) {
    const int64_t begin = static_cast<int64_t>(task) * kSampleTask;
    const int64_t end = std::min(size, begin + kSampleTask);
    const auto raw = [&](const ElementSpan& from) {
      const auto bytes = ByteSize(from.dtype, static_cast<uint64_t>(end - begin)).value_or(0);
      std::vector<std::byte> out(bytes);
      Gather(from, size, begin, end, out.data());
      return out;
    };
    const std::vector<std::byte> a_bytes = raw(source.a());
    const std::vector<std::byte> b_bytes = plan.judges ? raw(source.b()) : a_bytes;
    const DType b_dtype = plan.judges ? source.b().dtype : source.a().dtype;
    const PairSource<T> drawn({source.a().dtype, a_bytes, end - begin},
                              {b_dtype, b_bytes, end - begin}, source.rules());
    const auto scratch = std::make_unique_for_overwrite<PairScratch<T>>();
    for (int64_t start = 0; start < end - begin; start += static_cast<int64_t>(kBlockSize)) {
      const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, end - begin - start));
      const BlockPair<T> pair{drawn.LoadA(start, n, scratch->a), drawn.LoadB(start, n, scratch->b),
                              n};
      keep(kSideA, pair.a, begin + start, n, thread);
      if (!plan.judges) continue;
      keep(kSideB, pair.b, begin + start, n, thread);
      if (plan.levels[kAbsolute] != StatisticsLevel::kRanks) continue;
      drawn.Differences(pair, scratch->absolute, scratch->relative);
      keep(kAbsolute, scratch->absolute, begin + start, n, thread);
      keep(kRelative, scratch->relative, begin + start, n, thread);
    }
  };
  RunTasks(pool, static_cast<size_t>((size + kSampleTask - 1) / kSampleTask), draw_part);
}

template <typename T>
bool HasNan(const T* values, size_t n) {
  int nans = 0;
  for (size_t i = 0; i < n; ++i) nans += values[i] != values[i] ? 1 : 0;
  return nans > 0;
}

/// The keys of each wanted series at the sampled places.
template <typename T>
class Sample {
 public:
  using Key = RankKey<T>;

  Sample(const PairSource<T>& source, const ScanPlan& plan, int64_t size, ThreadPool* pool)
      : size_(size) {
    for (size_t i = 0; i < kSeriesCount; ++i) {
      if (plan.levels[i] == StatisticsLevel::kRanks) {
        keys_[i] = std::make_unique_for_overwrite<Key[]>(static_cast<size_t>(size));
      }
    }
    Draw(source, plan, size, pool,
         [this](size_t series, const T* values, int64_t start, size_t n, size_t) {
           if (keys_[series] == nullptr) return;
           if (HasNan(values, n)) has_nan_[series] = true;
           std::transform(values, values + n, keys_[series].get() + start, KeyOf<T>);
         });
  }

  bool has_nan(size_t series) const { return has_nan_[series]; }

  /// The plan for the given ranks of `count` values that this is a sample of.
  RankPlan<Key> PlanFor(size_t series, int64_t count, const std::vector<int64_t>& ranks) {
    const std::span<Key> keys{keys_[series].get(), static_cast<size_t>(size_)};
    return RankPlan<Key>::FromSample(
        size_, count, ranks,
        [keys](const std::vector<int64_t>& places) { return SelectRanks<Key>(keys, places); });
  }

 private:
  int64_t size_;
  std::array<std::unique_ptr<Key[]>, kSeriesCount> keys_;
  std::array<std::atomic<bool>, kSeriesCount> has_nan_{};
};

/// A larger sample, of which only what lies near the wanted ranks is kept: a small scan of its own.
template <typename T>
class Refinement {
 public:
  using Key = RankKey<T>;
  using RankPlans = typename ChunkScanner<T>::RankPlans;
  using Ranks = std::array<std::vector<int64_t>, kSeriesCount>;

  Refinement(const Ranks& ranks, int64_t count, int64_t size)
      : ranks_(ranks), count_(count), size_(size) {}

  /// Narrows `plans`, made from `first`, where that succeeds.
  void Run(const PairSource<T>& source, const ScanPlan& plan, Sample<T>& first, ThreadPool* pool,
           RankPlans& plans) {
    for (size_t i = 0; i < kSeriesCount; ++i) {
      if (!plans[i].empty()) inner_[i] = first.PlanFor(i, size_, PlacesFor(i));
    }
    const size_t threads = pool == nullptr ? 1 : pool->thread_count();
    for (auto& tallies : tallies_) {
      const auto series = static_cast<size_t>(&tallies - tallies_.data());
      for (size_t thread = 0; thread < threads; ++thread) {
        tallies.emplace_back(inner_[series], kCapacity / threads);
      }
    }
    Draw(source, plan, size_, pool,
         [this](size_t series, const T* values, int64_t, size_t n, size_t thread) {
           if (inner_[series].empty()) return;
           if (HasNan(values, n)) has_nan_[series] = true;
           if (!has_nan_[series]) tallies_[series][thread].Add(values, n);
         });
    RunTasks(pool, kSeriesCount, [&](size_t i, size_t) { Narrow(i, plans[i]); });
  }

 private:
  // Which ranks of the sample the plan will ask for.
  std::vector<int64_t> PlacesFor(size_t series) const {
    std::vector<int64_t> wanted;
    (void)RankPlan<Key>::FromSample(size_, count_, ranks_[series],
                                    [&wanted](const std::vector<int64_t>& places) {
                                      wanted = places;
                                      return std::vector<Key>(places.size());
                                    });
    return wanted;
  }

  // Half a percent of the largest sample is kept, about.
  static constexpr size_t kCapacity = size_t{1} << 21;

  void Narrow(size_t series, RankPlan<Key>& plan) const {
    if (inner_[series].empty() || has_nan_[series]) return;
    std::vector<const RankTally<T>*> tallies;
    for (const RankTally<T>& tally : tallies_[series]) tallies.push_back(&tally);
    const auto found = FindRanks<T>(inner_[series], tallies, size_);
    if (!found) return;
    plan = RankPlan<Key>::FromSample(size_, count_, ranks_[series],
                                     [&found](const std::vector<int64_t>&) {
                                       std::vector<Key> keys;
                                       for (const auto& [rank, key] : *found) keys.push_back(key);
                                       return keys;
                                     });
  }

  const Ranks& ranks_;
  int64_t count_;
  int64_t size_;
  RankPlans inner_;
  std::array<std::vector<RankTally<T>>, kSeriesCount> tallies_;
  std::array<std::atomic<bool>, kSeriesCount> has_nan_{};
};

}  // namespace

void RunTasks(ThreadPool* pool, size_t count, const std::function<void(size_t, size_t)>& task) {
  if (pool != nullptr) return pool->Run(count, task);
  for (size_t index = 0; index < count; ++index) task(index, 0);
}

// A larger sample makes narrower brackets, of which fewer values have to be kept; a smaller one is
// sooner made.
SampleSizes SampleSizesFor(int64_t count) {
  if (count <= 2048) return {};
  if (count <= (int64_t{1} << 16)) return {.first = 1024};
  if (count <= (int64_t{1} << 18)) return {.first = 2048};
  if (count <= (int64_t{1} << 25)) return {.first = int64_t{1} << 16};
  if (count <= (int64_t{1} << 27)) {
    return {.first = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(count)) >> 7)};
  }
  return {.first = int64_t{1} << 16, .second = std::min(int64_t{1} << 26, count / 64)};
}

template <typename T>
typename ChunkScanner<T>::RankPlans MakeRankPlans(
    const PairSource<T>& source, const ScanPlan& plan,
    const std::array<std::vector<int64_t>, kSeriesCount>& ranks, const SampleSizes& sizes,
    ThreadPool* pool) {
  using Plan = RankPlan<RankKey<T>>;
  typename ChunkScanner<T>::RankPlans plans;
  if (std::all_of(ranks.begin(), ranks.end(), [](const auto& some) { return some.empty(); })) {
    return plans;
  }
  if (sizes.first == 0) {
    for (size_t i = 0; i < kSeriesCount; ++i) {
      if (!ranks[i].empty()) plans[i] = Plan::KeepAll(ranks[i]);
    }
    return plans;
  }
  Sample<T> sample(source, plan, sizes.first, pool);
  RunTasks(pool, kSeriesCount, [&](size_t i, size_t) {
    if (ranks[i].empty() || sample.has_nan(i)) return;
    plans[i] = sample.PlanFor(i, source.count(), ranks[i]);
  });
  if (sizes.second > 0) {
    Refinement<T>(ranks, source.count(), sizes.second).Run(source, plan, sample, pool, plans);
  }
  return plans;
}

template ChunkScanner<float>::RankPlans MakeRankPlans(
    const PairSource<float>&, const ScanPlan&,
    const std::array<std::vector<int64_t>, kSeriesCount>&, const SampleSizes&, ThreadPool*);
template ChunkScanner<double>::RankPlans MakeRankPlans(
    const PairSource<double>&, const ScanPlan&,
    const std::array<std::vector<int64_t>, kSeriesCount>&, const SampleSizes&, ThreadPool*);

}  // namespace vernier
