// Blocks of one or two arrays and of their differences, in float or double. Internal to kernels.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/elements/element_blocks.h"
#include "kernels/measures/block_kernels.h"

namespace vernier {

/// In which arithmetic differences are taken.
enum class DifferenceArithmetic : uint8_t {
  kPlain,     ///< that of T
  kNarrowed,  ///< subtracted in float32, divided in float64: see WidenedDifferences
};

struct PairRules {
  DifferenceArithmetic arithmetic = DifferenceArithmetic::kPlain;
  ZeroRule zeros = ZeroRule::kReplace;
  bool infinities_equal = false;
  /// 64-bit integers are exact in float64 up to 2^52, and must be checked.
  bool checks_a = false;
  bool checks_b = false;
};

template <typename T>
struct PairScratch {
  alignas(64) T a[kBlockSize];
  alignas(64) T b[kBlockSize];
  alignas(64) T absolute[kBlockSize];
  alignas(64) T relative[kBlockSize];
};

template <typename T>
class PairSource {
 public:
  PairSource(const ElementSpan& a, const ElementSpan& b, const PairRules& rules)
      : a_(a), b_(b), rules_(rules), a_load_(Loader(a.dtype)), b_load_(Loader(b.dtype)) {}

  const ElementSpan& a() const { return a_; }
  const ElementSpan& b() const { return b_; }
  const PairRules& rules() const { return rules_; }
  int64_t count() const { return a_.count; }

  const T* LoadA(int64_t start, size_t n, T* scratch) const {
    return Load(a_, a_load_, start, n, scratch);
  }
  const T* LoadB(int64_t start, size_t n, T* scratch) const {
    return Load(b_, b_load_, start, n, scratch);
  }

  /// Are the numbers of 64-bit integers, loaded here, what they were?
  bool IsExact(const BlockPair<T>& pair) const {
    return (!rules_.checks_a || IsWithinRange(pair.a, pair.count)) &&
           (!rules_.checks_b || IsWithinRange(pair.b, pair.count));
  }

  DifferenceNotes Differences(const BlockPair<T>& pair, T* absolute, T* relative) const {
    const DifferenceNotes notes =
        VectorKernels<T>().difference(pair, rules_.zeros, absolute, relative);
    if (rules_.arithmetic == DifferenceArithmetic::kPlain && !rules_.infinities_equal) return notes;
    DifferenceNotes changed = notes;
    changed.same = false;
    for (size_t i = 0; i < pair.count; ++i) {
      absolute[i] = Absolute(pair.a[i], pair.b[i]);
      const bool replaced = pair.b[i] == 0 && rules_.zeros == ZeroRule::kReplace;
      relative[i] = absolute[i] / (replaced ? static_cast<T>(0x1p-52) : std::fabs(pair.b[i]));
    }
    return changed;
  }

 private:
  using Loads = void (*)(const std::byte*, size_t, T*);

  static Loads Loader(DType dtype) {
    const auto index = static_cast<size_t>(dtype);
    if constexpr (sizeof(T) == 4) {
      return VectorStorageKernels().to_float[index];
    } else {
      return VectorStorageKernels().to_double[index];
    }
  }

  static const T* Load(const ElementSpan& elements, Loads load, int64_t start, size_t n,
                       T* scratch) {
    constexpr DType kOwn = sizeof(T) == 4 ? DType::kFloat32 : DType::kFloat64;
    if (elements.dtype == kOwn || load == nullptr) return LoadBlock(elements, start, n, scratch);
    const auto size = static_cast<size_t>(BitsOf(elements.dtype)) / 8;
    load(elements.bytes.data() + static_cast<size_t>(start) * size, n, scratch);
    return scratch;
  }

  static bool IsWithinRange(const T* values, size_t n) {
    int outside = 0;
    for (size_t i = 0; i < n; ++i) outside |= std::fabs(values[i]) > static_cast<T>(0x1p52) ? 1 : 0;
    return outside == 0;
  }

  T Absolute(T a, T b) const {
    if (rules_.infinities_equal && a == b) return 0;
    if (rules_.arithmetic == DifferenceArithmetic::kPlain) return std::fabs(a - b);
    return static_cast<T>(std::fabs(static_cast<float>(a) - static_cast<float>(b)));
  }

  ElementSpan a_;
  ElementSpan b_;
  PairRules rules_;
  Loads a_load_;
  Loads b_load_;
};

}  // namespace vernier
