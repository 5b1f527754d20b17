#include "gpu/device_codes.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "gpu/kernel_records.h"
#include "kernels/measures/code_arrays.h"

namespace vernier::gpu {
namespace {

constexpr size_t kPairs = 65536;
constexpr int64_t kWorthCounting = int64_t{1} << 17;
constexpr int64_t kUnfound = std::numeric_limits<int64_t>::max();
constexpr int kPairBits = 16;

// Where the results have what a search needs: places, then flags.
constexpr size_t kFlagsOffset = 32 * sizeof(int64_t);
static_assert(kPairs * sizeof(uint64_t) <= DeviceKernels::kResultBytes);
static_assert(kFlagsOffset + kPairs * sizeof(uint32_t) <= DeviceKernels::kResultBytes);

unsigned NibbleOf(unsigned byte, int place) { return byte >> (4 * place) & 0xf; }

// Bytes hold one element or two, the first in the low half.
class DeviceCodes final : public CodeArrays {
 public:
  DeviceCodes(DeviceKernels& kernels, const DeviceElements& a, const DeviceElements& b)
      : kernels_(kernels), count_(a.count), halves_(BitsOf(a.dtype) == 4) {
    args_.a = reinterpret_cast<const void*>(a.data);
    args_.b = reinterpret_cast<const void*>(b.data);
    args_.count = halves_ ? count_ / 2 : count_;
  }

  Result<std::vector<int64_t>> CountPairs() override {
    VERNIER_TRY(kernels_.ClearResults(kPairs * sizeof(uint64_t)));
    cuda::DevicePointer totals = kernels_.results();
    void* arguments[] = {&args_, &totals};
    VERNIER_TRY(Launch("code_counts", kCodeTableBytes, arguments));
    VERNIER_TRY(kernels_.Fetch(kPairs * sizeof(uint64_t)));
    const auto* const counts = reinterpret_cast<const int64_t*>(kernels_.fetched());
    if (halves_) return CountHalves(counts);
    return std::vector(counts, counts + kPairs);
  }

  Result<std::array<int64_t, 32>> FindFirst(std::span<const uint32_t> flags,
                                            uint32_t wanted) override {
    const std::vector<uint32_t> words =
        halves_ ? FlagsOfBytes(flags) : std::vector(flags.begin(), flags.end());
    std::array<int64_t, 32> places;
    places.fill(kUnfound);
    VERNIER_TRY(kernels_.Store(kFlagsOffset, std::as_bytes(std::span(words))));
    VERNIER_TRY(kernels_.Store(0, std::as_bytes(std::span(places))));
    // What is common is found in the first part, before there are many threads to wait for.
    CodeArgs args = args_;
    args.wanted = wanted;
    for (int64_t end = int64_t{1} << 15; args.wanted != 0; end *= 64) {
      args.count = std::min(end, args_.count);
      VERNIER_TRY(Search(args, places));
      for (uint32_t bit = 0; bit < 32; ++bit) {
        if (places[bit] != kUnfound) args.wanted &= ~(1u << bit);
      }
      if (args.count == args_.count) break;
      args.first = args.count;
    }
    if (halves_) {
      VERNIER_TRY(FindHalves(flags, wanted, places));
    } else {
      for (int64_t& place : places) place = place == kUnfound ? place : place >> kPairBits;
    }
    std::replace(places.begin(), places.end(), kUnfound, int64_t{-1});
    return places;
  }

 private:
  Status Launch(const char* kernel, unsigned shared_bytes, void** arguments) {
    const auto blocks = static_cast<unsigned>(kernels_.multiprocessors());
    return kernels_.Run({"Codes", kernel, blocks, shared_bytes, kCodeThreads}, arguments);
  }

  Status Search(CodeArgs& args, std::array<int64_t, 32>& places) {
    cuda::DevicePointer out = kernels_.results();
    cuda::DevicePointer flags = kernels_.results() + kFlagsOffset;
    void* arguments[] = {&args, &flags, &out};
    VERNIER_TRY(Launch("code_places", 0, arguments));
    VERNIER_TRY(kernels_.Fetch(sizeof(places)));
    std::memcpy(places.data(), kernels_.fetched(), sizeof(places));
    return {};
  }

  // The codes of the last byte, of which one half counts, as pairs are.
  Result<unsigned> LastPair() {
    std::array<uint8_t, 2> bytes{};
    const void* const sides[] = {args_.a, args_.b};
    for (size_t i = 0; i < 2; ++i) {
      VERNIER_TRY(kernels_.CopyToHost(
          &bytes[i],
          reinterpret_cast<cuda::DevicePointer>(sides[i]) + static_cast<uint64_t>(args_.count), 1));
    }
    return unsigned{bytes[0]} << 8 | bytes[1];
  }

  static unsigned HalfOf(unsigned pair, int place) {
    return NibbleOf(pair >> 8, place) << 8 | NibbleOf(pair & 0xff, place);
  }

  // From counts of bytes, 16 pairs of which share each half, to those of elements.
  Result<std::vector<int64_t>> CountHalves(const int64_t* bytes) {
    std::vector<int64_t> counts(kPairs);
    for (unsigned a = 0; a < 256; ++a) {
      std::array<int64_t, 16> low{};
      const int64_t* row = bytes + (a << 8);
      int64_t* const high = counts.data() + (NibbleOf(a, 1) << 8);
      for (unsigned b = 0; b < 16; ++b, row += 16) {
        for (size_t i = 0; i < 16; ++i) low[i] += row[i];
        high[b] += std::accumulate(row, row + 16, int64_t{0});
      }
      for (size_t i = 0; i < 16; ++i) counts[(NibbleOf(a, 0) << 8) + i] += low[i];
    }
    if (count_ % 2 != 0) {
      VERNIER_ASSIGN_OR_RETURN(const unsigned last, LastPair());
      ++counts[HalfOf(last, 0)];
    }
    return counts;
  }

  static std::vector<uint32_t> FlagsOfBytes(std::span<const uint32_t> flags) {
    std::vector<uint32_t> words(kPairs);
    for (unsigned a = 0; a < 256; ++a) {
      const uint32_t* const low = flags.data() + (NibbleOf(a, 0) << 8);
      const uint32_t* const high = flags.data() + (NibbleOf(a, 1) << 8);
      uint32_t* row = words.data() + (a << 8);
      for (unsigned b = 0; b < 16; ++b, row += 16) {
        for (size_t i = 0; i < 16; ++i) row[i] = low[i] | high[b];
      }
    }
    return words;
  }

  // From places and pairs of bytes to places of elements.
  Status FindHalves(std::span<const uint32_t> flags, uint32_t wanted,
                    std::array<int64_t, 32>& places) {
    const bool odd = count_ % 2 != 0;
    unsigned last = 0;
    if (odd) {
      VERNIER_ASSIGN_OR_RETURN(last, LastPair());
    }
    for (uint32_t bit = 0; bit < 32; ++bit) {
      if ((wanted >> bit & 1u) == 0) continue;
      const auto has = [&](unsigned pair, int place) {
        return (flags[HalfOf(pair, place)] >> bit & 1u) != 0;
      };
      if (places[bit] != kUnfound) {
        const auto pair = static_cast<unsigned>(places[bit] & (int64_t{kPairs} - 1));
        places[bit] = 2 * (places[bit] >> kPairBits) + (has(pair, 0) ? 0 : 1);
      } else if (odd && has(last, 0)) {
        places[bit] = count_ - 1;
      }
    }
    return {};
  }

  DeviceKernels& kernels_;
  int64_t count_;
  bool halves_;
  CodeArgs args_{};
};

}  // namespace

bool SuitsCodes(const DeviceKernels& kernels, const DeviceElements& a, const DeviceElements& b) {
  const int bits = BitsOf(a.dtype);
  return (bits == 8 || bits == 4) && BitsOf(b.dtype) == bits && a.data % 16 == 0 &&
         b.data % 16 == 0 && a.count >= kWorthCounting &&
         kernels.shared_bytes() >= kCodeTableBytes + 1024;
}

Result<PairMeasures> MeasureCodes(DeviceKernels& kernels, const DeviceElements& a,
                                  const DeviceElements& b, const MeasureRequest& request) {
  DeviceCodes codes(kernels, a, b);
  return MeasureCodeArrays(codes, a.dtype, b.dtype, a.count, request);
}

}  // namespace vernier::gpu
