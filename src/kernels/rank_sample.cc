#include "kernels/rank_sample.h"

#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

#include "util/thread_pool.h"

namespace vernier {
namespace {

constexpr int64_t kKeepAll = 4096;
constexpr int64_t kSampleTask = 4 * static_cast<int64_t>(kBlockSize);

// A larger sample makes narrower brackets, of which fewer keys have to be kept; a smaller one is
// sooner made.
int64_t SampleSize(int64_t count) {
  constexpr int64_t kMost = int64_t{1} << 20;
  if (count <= (int64_t{1} << 18)) return kKeepAll;
  if (count <= (int64_t{1} << 25)) return int64_t{1} << 16;
  return std::min(kMost, static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(count)) >> 7));
}

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
    std::memcpy(to + static_cast<size_t>(i) * sizeof(Raw), from.bytes.data() + place * sizeof(Raw),
                sizeof(Raw));
  }
}

void GatherNibbles(const ElementSpan& from, int64_t size, int64_t begin, int64_t end,
                   std::byte* to) {
  for (int64_t i = begin; i < end; ++i) {
    const auto place = static_cast<size_t>(SamplePlace(i, size, from.count));
    const std::byte nibble = (from.bytes[place / 2] >> (4 * (place % 2))) & std::byte{0xf};
    std::byte& target = to[i / 2];
    target = i % 2 == 0 ? nibble : target | (nibble << 4);
  }
}

// Elements [begin, end) of a sample of `size`; both even.
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

/// The keys of each series at the sampled places.
template <typename T>
class Sample {
 public:
  using Key = RankKey<T>;

  Sample(const PairSource<T>& source, const ScanPlan& plan, int64_t size)
      : source_(source), plan_(plan), size_(size), raw_a_(Bytes(source.a().dtype)) {
    if (plan.judges) raw_b_.resize(Bytes(source.b().dtype));
    for (size_t i = 0; i < kSeriesCount; ++i) {
      if (plan.levels[i] == StatisticsLevel::kRanks) {
        keys_[i] = std::make_unique_for_overwrite<Key[]>(static_cast<size_t>(size));
      }
    }
  }

  void Draw(ThreadPool* pool) {
    RunTasks(pool, static_cast<size_t>((size_ + kSampleTask - 1) / kSampleTask),
             [this](size_t task, size_t) {
               const int64_t begin = static_cast<int64_t>(task) * kSampleTask;
               DrawPart(begin, std::min(size_, begin + kSampleTask));
             });
  }

  std::span<Key> keys(size_t series) { return {keys_[series].get(), static_cast<size_t>(size_)}; }
  bool has_nan(size_t series) const { return has_nan_[series]; }

 private:
  size_t Bytes(DType dtype) const {
    return static_cast<size_t>(ByteSize(dtype, static_cast<uint64_t>(size_)).value_or(0));
  }

  void DrawPart(int64_t begin, int64_t end) {
    Gather(source_.a(), size_, begin, end, raw_a_.data());
    if (plan_.judges) Gather(source_.b(), size_, begin, end, raw_b_.data());
    const ElementSpan a{source_.a().dtype, raw_a_, size_};
    const ElementSpan b{source_.b().dtype, raw_b_, size_};
    const PairSource<T> drawn(a, plan_.judges ? b : a, source_.rules());
    const auto scratch = std::make_unique_for_overwrite<PairScratch<T>>();
    for (int64_t start = begin; start < end; start += static_cast<int64_t>(kBlockSize)) {
      const auto n = static_cast<size_t>(std::min<int64_t>(kBlockSize, end - start));
      BlockPair<T> pair{drawn.LoadA(start, n, scratch->a), nullptr, n};
      pair.b = plan_.judges ? drawn.LoadB(start, n, scratch->b) : pair.a;
      Keep(kSideA, pair.a, start, n);
      if (!plan_.judges) continue;
      Keep(kSideB, pair.b, start, n);
      if (plan_.levels[kAbsolute] != StatisticsLevel::kRanks) continue;
      drawn.Differences(pair, scratch->absolute, scratch->relative);
      Keep(kAbsolute, scratch->absolute, start, n);
      Keep(kRelative, scratch->relative, start, n);
    }
  }

  void Keep(size_t series, const T* values, int64_t start, size_t n) {
    if (keys_[series] == nullptr) return;
    Key* to = keys_[series].get() + start;
    int nans = 0;
    for (size_t i = 0; i < n; ++i) {
      nans += values[i] != values[i] ? 1 : 0;
      to[i] = KeyOf(values[i]);
    }
    if (nans > 0) has_nan_[series] = true;
  }

  const PairSource<T>& source_;
  const ScanPlan& plan_;
  int64_t size_;
  std::vector<std::byte> raw_a_;
  std::vector<std::byte> raw_b_;
  std::array<std::unique_ptr<Key[]>, kSeriesCount> keys_;
  std::array<std::atomic<bool>, kSeriesCount> has_nan_{};
};

}  // namespace

void RunTasks(ThreadPool* pool, size_t count, const std::function<void(size_t, size_t)>& task) {
  if (pool != nullptr) return pool->Run(count, task);
  for (size_t index = 0; index < count; ++index) task(index, 0);
}

template <typename T>
typename ChunkScanner<T>::RankPlans MakeRankPlans(
    const PairSource<T>& source, const ScanPlan& plan,
    const std::array<std::vector<int64_t>, kSeriesCount>& ranks, ThreadPool* pool) {
  using Plan = RankPlan<RankKey<T>>;
  typename ChunkScanner<T>::RankPlans plans;
  const int64_t count = source.count();
  if (count <= kKeepAll) {
    for (size_t i = 0; i < kSeriesCount; ++i) {
      if (!ranks[i].empty()) plans[i] = Plan::KeepAll(ranks[i]);
    }
    return plans;
  }
  if (std::all_of(ranks.begin(), ranks.end(), [](const auto& some) { return some.empty(); })) {
    return plans;
  }
  Sample<T> sample(source, plan, SampleSize(count));
  sample.Draw(pool);
  RunTasks(pool, kSeriesCount, [&](size_t i, size_t) {
    if (ranks[i].empty() || sample.has_nan(i)) return;
    plans[i] = Plan::FromSample(sample.keys(i), count, ranks[i]);
  });
  return plans;
}

template ChunkScanner<float>::RankPlans MakeRankPlans(
    const PairSource<float>&, const ScanPlan&,
    const std::array<std::vector<int64_t>, kSeriesCount>&, ThreadPool*);
template ChunkScanner<double>::RankPlans MakeRankPlans(
    const PairSource<double>&, const ScanPlan&,
    const std::array<std::vector<int64_t>, kSeriesCount>&, ThreadPool*);

}  // namespace vernier
