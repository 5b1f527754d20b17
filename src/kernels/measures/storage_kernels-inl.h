// Compiled once for every vector width; the compiler makes the vectors. Must be included after
// hwy/highway.h.

// clang-format off
#if defined(VERNIER_STORAGE_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef VERNIER_STORAGE_KERNELS_INL_H_
#undef VERNIER_STORAGE_KERNELS_INL_H_
#else
#define VERNIER_STORAGE_KERNELS_INL_H_
#endif
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace vernier {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
HWY_INLINE T RawAt(const std::byte* from, size_t i) {
  T value;
  std::memcpy(&value, from + i * sizeof(T), sizeof(T));
  return value;
}

template <typename Stored, typename T>
void Load(const std::byte* from, size_t count, T* to) {
  for (size_t i = 0; i < count; ++i) to[i] = static_cast<T>(RawAt<Stored>(from, i));
}

template <typename T>
void LoadBool(const std::byte* from, size_t count, T* to) {
  for (size_t i = 0; i < count; ++i) to[i] = static_cast<T>(RawAt<uint8_t>(from, i) != 0 ? 1 : 0);
}

HWY_INLINE float FromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

template <typename T>
void LoadBFloat16(const std::byte* from, size_t count, T* to) {
  for (size_t i = 0; i < count; ++i) {
    to[i] = static_cast<T>(FromBits(static_cast<uint32_t>(RawAt<uint16_t>(from, i)) << 16));
  }
}

// Whether one instruction converts float16, infinities and NaN included.
#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2 && !defined(HWY_DISABLE_F16C)) || \
    (HWY_ARCH_ARM_A64 && HWY_TARGET == HWY_NEON)
HWY_INLINE size_t LoadHalfVectors(const std::byte* from, size_t count, float* to) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<uint16_t, decltype(d)> d16;
  const hn::Rebind<hwy::float16_t, decltype(d)> dh;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto bits = hn::LoadU(d16, reinterpret_cast<const uint16_t*>(from) + i);
    hn::StoreU(hn::PromoteTo(d, hn::BitCast(dh, bits)), d, to + i);
  }
  return i;
}
#else
HWY_INLINE size_t LoadHalfVectors(const std::byte*, size_t, float*) { return 0; }
#endif
HWY_INLINE size_t LoadHalfVectors(const std::byte*, size_t, double*) { return 0; }

// Without branches: the multiplication sets the exponent right, also of denormals.
template <typename T>
void LoadHalf(const std::byte* from, size_t count, T* to) {
  for (size_t i = LoadHalfVectors(from, count, to); i < count; ++i) {
    const uint32_t half = RawAt<uint16_t>(from, i);
    const uint32_t magnitude = (half & 0x7fffu) << 13;
    const uint32_t sign = (half & 0x8000u) << 16;
    const uint32_t special = magnitude >= 0x0f800000u ? 0x7f800000u : 0u;
    const float scaled = FromBits(magnitude) * 0x1p112f;
    uint32_t bits;
    std::memcpy(&bits, &scaled, sizeof(bits));
    to[i] = static_cast<T>(FromBits(bits | special | sign));
  }
}

/// An eight-bit format with `kMantissa` bits of fraction, whose magnitudes from `kNan` on are NaN
/// (256: only negative zero is), with kInfinity (0: none) as infinity.
template <int kMantissa, int kBias, uint32_t kInfinity, uint32_t kNan, typename T>
void LoadEight(const std::byte* from, size_t count, T* to) {
  const float scale = FromBits(static_cast<uint32_t>(127 + 127 - kBias) << 23);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t code = RawAt<uint8_t>(from, i);
    const uint32_t magnitude = code & 0x7fu;
    const uint32_t sign = (code & 0x80u) << 24;
    const float scaled = FromBits(magnitude << (23 - kMantissa)) * scale;
    uint32_t bits;
    std::memcpy(&bits, &scaled, sizeof(bits));
    const bool is_nan = kNan == 256 ? code == 0x80u : magnitude >= kNan;
    bits = kInfinity != 0 && magnitude == kInfinity ? 0x7f800000u : bits;
    bits = is_nan ? 0x7fc00000u : bits;
    to[i] = static_cast<T>(FromBits(bits | sign));
  }
}

template <typename Bits>
BlockUlps Ulps(const RawPair& pair, uint64_t largest_magnitude) {
  constexpr Bits kMagnitude = static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> 1);
  const Bits largest = static_cast<Bits>(largest_magnitude);
  Bits max = 0;
  int64_t measured = 0;
  int64_t different = 0;
  for (size_t i = 0; i < pair.count; ++i) {
    const Bits a = RawAt<Bits>(pair.a, i);
    const Bits b = RawAt<Bits>(pair.b, i);
    const Bits x = a & kMagnitude;
    const Bits y = b & kMagnitude;
    const bool valid = (x <= largest) & (y <= largest);
    const Bits apart = static_cast<Bits>(x > y ? x - y : y - x);
    // Two magnitudes without their sign bits cannot overflow.
    Bits distance = (a > kMagnitude) == (b > kMagnitude) ? apart : static_cast<Bits>(x + y);
    distance = valid ? distance : Bits{0};
    measured += valid ? 1 : 0;
    different += distance != 0 ? 1 : 0;
    max = distance > max ? distance : max;
  }
  return {max, measured, different};
}

template <typename T, typename Table>
void FillLoads(Table& table) {
  const auto at = [&table](DType dtype) -> auto& { return table[static_cast<size_t>(dtype)]; };
  at(DType::kBool) = LoadBool<T>;
  at(DType::kInt8) = Load<int8_t, T>;
  at(DType::kUint8) = Load<uint8_t, T>;
  at(DType::kInt16) = Load<int16_t, T>;
  at(DType::kUint16) = Load<uint16_t, T>;
  at(DType::kInt32) = Load<int32_t, T>;
  at(DType::kUint32) = Load<uint32_t, T>;
  at(DType::kFloat32) = Load<float, T>;
  at(DType::kFloat16) = LoadHalf<T>;
  at(DType::kBFloat16) = LoadBFloat16<T>;
  at(DType::kFloat8E4M3FN) = LoadEight<3, 7, 0, 0x7f, T>;
  at(DType::kFloat8E4M3FNUZ) = LoadEight<3, 8, 0, 256, T>;
  at(DType::kFloat8E5M2) = LoadEight<2, 15, 0x7c, 0x7d, T>;
  at(DType::kFloat8E5M2FNUZ) = LoadEight<2, 16, 0, 256, T>;
}

StorageKernels MakeStorageTable() {
  StorageKernels table;
  FillLoads<float>(table.to_float);
  FillLoads<double>(table.to_double);
  table.ulps[0] = Ulps<uint8_t>;
  table.ulps[1] = Ulps<uint16_t>;
  table.ulps[2] = Ulps<uint32_t>;
  table.ulps[3] = Ulps<uint64_t>;
  return table;
}

inline const StorageKernels& StorageTable() {
  static const StorageKernels kStorageTable = MakeStorageTable();
  return kStorageTable;
}

}  // namespace HWY_NAMESPACE
}  // namespace vernier
HWY_AFTER_NAMESPACE();

#endif
