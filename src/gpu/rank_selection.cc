#include "gpu/rank_selection.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "gpu/kernel_records.h"

namespace vernier::gpu {
namespace {

// Few enough for the host to search in less time than another pass takes.
constexpr uint64_t kGatherCapacity = 16384;
constexpr size_t kMostStreams = 2;
constexpr size_t kGatherKeysOffset = 64;  // behind the counts
constexpr size_t kGatherBytes =
    kGatherKeysOffset + kMostStreams * kGatherCapacity * sizeof(uint64_t);
static_assert(kGatherBytes <= DeviceKernels::kResultBytes);

struct Bucket {
  size_t walk;
  uint64_t prefix;
};

std::vector<Bucket> BucketsOf(std::span<const RankWalk> walks) {
  std::vector<Bucket> buckets;
  for (size_t walk = 0; walk < walks.size(); ++walk) {
    for (const uint64_t prefix : walks[walk].Prefixes()) buckets.push_back({walk, prefix});
  }
  return buckets;
}

class Selection {
 public:
  Selection(DeviceKernels& kernels, const DigitSource& source, std::span<RankWalk> walks)
      : kernels_(kernels), source_(source), walks_(walks) {}

  Status Run() {
    const std::vector<Digit> digits = DigitsOf(source_.key_bits);
    VERNIER_TRY(CountFirst(digits.front()));
    for (size_t i = 1; i < digits.size(); ++i) {
      const unsigned below = digits[i].shift + digits[i].bits;
      if (FewAreLeft()) return Gather(below);
      VERNIER_TRY(CountNext(digits[i]));
    }
    return {};
  }

 private:
  bool FewAreLeft() const {
    return std::all_of(walks_.begin(), walks_.end(),
                       [](const RankWalk& walk) { return walk.candidates() <= kGatherCapacity; });
  }

  DigitArgs ArgsFor(Digit digit, std::span<const Bucket> buckets) const {
    DigitArgs args{};
    args.shift = digit.shift;
    args.bits = digit.bits;
    args.key_bits = source_.key_bits;
    args.bucket_count = static_cast<uint32_t>(buckets.size());
    args.split = static_cast<uint32_t>(
        std::count_if(buckets.begin(), buckets.end(), [](const Bucket& b) { return b.walk == 0; }));
    for (size_t i = 0; i < buckets.size(); ++i) args.prefix[i] = buckets[i].prefix;
    return args;
  }

  // One launch: appends the counts of some buckets, in their order.
  Status Count(const char* kernel, Digit digit, std::span<const Bucket> buckets,
               std::vector<uint64_t>& counts) {
    DigitArgs args = ArgsFor(digit, buckets);
    const size_t counters = buckets.size() << digit.bits;
    VERNIER_TRY(kernels_.ClearResults(counters * sizeof(uint64_t)));
    cuda::DevicePointer out = kernels_.results();
    void* arguments[] = {source_.args, &args, &out};
    VERNIER_TRY(kernels_.Run({source_.variant, kernel, source_.blocks,
                              static_cast<unsigned>(counters * sizeof(uint32_t))},
                             arguments));
    VERNIER_TRY(kernels_.Fetch(counters * sizeof(uint64_t)));
    const size_t old = counts.size();
    counts.resize(old + counters);
    std::memcpy(counts.data() + old, kernels_.fetched(), counters * sizeof(uint64_t));
    return {};
  }

  // Every stream is counted, whether or not it has wanted ranks.
  Status CountFirst(Digit digit) {
    std::vector<Bucket> buckets;
    for (size_t walk = 0; walk < walks_.size(); ++walk) buckets.push_back({walk, 0});
    std::vector<uint64_t> counts;
    VERNIER_TRY(Count(source_.first_kernel, digit, buckets, counts));
    const size_t radix = size_t{1} << digit.bits;
    for (size_t walk = 0; walk < walks_.size(); ++walk) {
      walks_[walk].Descend(digit, std::span(counts).subspan(walk * radix, radix));
    }
    return {};
  }

  Status CountNext(Digit digit) {
    const std::vector<Bucket> buckets = BucketsOf(walks_);
    std::vector<uint64_t> counts;
    for (size_t done = 0; done < buckets.size(); done += kMostBuckets) {
      const size_t n = std::min<size_t>(kMostBuckets, buckets.size() - done);
      VERNIER_TRY(Count(source_.next_kernel, digit, std::span(buckets).subspan(done, n), counts));
    }
    std::span<const uint64_t> rest(counts);
    for (RankWalk& walk : walks_) {
      const size_t size = walk.Prefixes().size() << digit.bits;
      walk.Descend(digit, rest.first(size));
      rest = rest.subspan(size);
    }
    return {};
  }

  // `below`: the bits that are not found yet.
  Status Gather(unsigned below) {
    const std::vector<Bucket> buckets = BucketsOf(walks_);
    if (buckets.empty()) return {};
    VERNIER_TRY(kernels_.ClearResults(kGatherKeysOffset));
    GatherArgs out{reinterpret_cast<unsigned long long*>(kernels_.results()),
                   reinterpret_cast<uint64_t*>(kernels_.results() + kGatherKeysOffset),
                   kGatherCapacity};
    for (size_t done = 0; done < buckets.size(); done += kMostBuckets) {
      const size_t n = std::min<size_t>(kMostBuckets, buckets.size() - done);
      DigitArgs args = ArgsFor({below, 0}, std::span(buckets).subspan(done, n));
      void* arguments[] = {source_.args, &args, &out};
      VERNIER_TRY(
          kernels_.Run({source_.variant, source_.gather_kernel, source_.blocks, 0}, arguments));
    }
    VERNIER_TRY(kernels_.Fetch(kGatherBytes));
    std::array<uint64_t, kMostStreams> used{};
    std::memcpy(used.data(), kernels_.fetched(), sizeof(used));
    std::vector<uint64_t> keys;
    for (size_t walk = 0; walk < walks_.size(); ++walk) {
      if (used[walk] != walks_[walk].candidates()) {
        return BackendError("CUDA: a tensor changed while it was compared");
      }
      keys.resize(used[walk]);
      std::memcpy(
          keys.data(),
          kernels_.fetched() + kGatherKeysOffset + walk * kGatherCapacity * sizeof(uint64_t),
          keys.size() * sizeof(uint64_t));
      walks_[walk].Finish(keys, below);
    }
    return {};
  }

  DeviceKernels& kernels_;
  const DigitSource& source_;
  std::span<RankWalk> walks_;
};

}  // namespace

Status SelectRanks(DeviceKernels& kernels, const DigitSource& source, std::span<RankWalk> walks) {
  const bool all_empty =
      std::all_of(walks.begin(), walks.end(), [](const RankWalk& walk) { return walk.empty(); });
  return all_empty ? Status() : Selection(kernels, source, walks).Run();
}

}  // namespace vernier::gpu
