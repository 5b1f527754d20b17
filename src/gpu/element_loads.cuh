// Elements of any dtype from device memory, as one of the types that are computed with. The values
// are those of kernels/elements/element_blocks.cc, bit for bit.
#pragma once

#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>

#include "vernier/dtype.h"

namespace vernier::gpu {

// The small float formats, as kernels/elements/float_formats.cc reads them.
enum class Specials { kIeee, kLastIsNan, kNegativeZeroIsNan, kNone };

__device__ inline float DecodeSmall(unsigned bits, int exponent_bits, int mantissa_bits, int bias,
                                    Specials specials) {
  const int width = exponent_bits + mantissa_bits;
  const unsigned magnitude = bits & ((1u << width) - 1);
  const bool negative = ((bits >> width) & 1u) != 0;
  const unsigned mantissa = magnitude & ((1u << mantissa_bits) - 1);
  const int exponent = static_cast<int>(magnitude >> mantissa_bits);
  const float nan = __int_as_float(0x7fc00000);
  if (specials == Specials::kIeee && exponent == (1 << exponent_bits) - 1) {
    if (mantissa != 0) return nan;
    return __int_as_float(negative ? 0xff800000 : 0x7f800000);
  }
  if (specials == Specials::kLastIsNan && magnitude == (1u << width) - 1) return nan;
  if (specials == Specials::kNegativeZeroIsNan && negative && magnitude == 0) return nan;
  const float whole =
      static_cast<float>(exponent == 0 ? mantissa : mantissa + (1u << mantissa_bits));
  const float value = ldexpf(whole, (exponent == 0 ? 1 : exponent) - bias - mantissa_bits);
  return negative ? -value : value;
}

__device__ inline float HalfToFloat(uint16_t bits) { return __half2float(__ushort_as_half(bits)); }
__device__ inline float BFloat16ToFloat(uint32_t bits) {
  return __int_as_float(static_cast<int>(bits << 16));
}

__device__ inline unsigned Nibble(const void* base, int64_t i) {
  return (static_cast<const uint8_t*>(base)[i / 2] >> (4 * (i % 2))) & 0xfu;
}

// One element of whatever type, as T: float, double or int64_t (uint64 as its bits).
template <typename T>
__device__ T LoadAny(const void* base, int32_t type, int64_t i) {
  switch (static_cast<DType>(type)) {
    case DType::kBool:
      return static_cast<T>(static_cast<const uint8_t*>(base)[i] != 0);
    case DType::kInt8:
      return static_cast<T>(static_cast<const int8_t*>(base)[i]);
    case DType::kUint8:
      return static_cast<T>(static_cast<const uint8_t*>(base)[i]);
    case DType::kInt16:
      return static_cast<T>(static_cast<const int16_t*>(base)[i]);
    case DType::kUint16:
      return static_cast<T>(static_cast<const uint16_t*>(base)[i]);
    case DType::kInt32:
      return static_cast<T>(static_cast<const int32_t*>(base)[i]);
    case DType::kUint32:
      return static_cast<T>(static_cast<const uint32_t*>(base)[i]);
    case DType::kInt64:
      return static_cast<T>(static_cast<const int64_t*>(base)[i]);
    case DType::kUint64:
      return static_cast<T>(static_cast<const uint64_t*>(base)[i]);
    case DType::kUint4:
      return static_cast<T>(Nibble(base, i));
    case DType::kInt4:
      return static_cast<T>(static_cast<int>(Nibble(base, i) ^ 8u) - 8);
    case DType::kFloat32:
      return static_cast<T>(static_cast<const float*>(base)[i]);
    case DType::kFloat64:
      return static_cast<T>(static_cast<const double*>(base)[i]);
    case DType::kFloat16:
      return static_cast<T>(HalfToFloat(static_cast<const uint16_t*>(base)[i]));
    case DType::kBFloat16:
      return static_cast<T>(BFloat16ToFloat(static_cast<const uint16_t*>(base)[i]));
    case DType::kFloat8E4M3FN:
      return static_cast<T>(
          DecodeSmall(static_cast<const uint8_t*>(base)[i], 4, 3, 7, Specials::kLastIsNan));
    case DType::kFloat8E4M3FNUZ:
      return static_cast<T>(
          DecodeSmall(static_cast<const uint8_t*>(base)[i], 4, 3, 8, Specials::kNegativeZeroIsNan));
    case DType::kFloat8E5M2:
      return static_cast<T>(
          DecodeSmall(static_cast<const uint8_t*>(base)[i], 5, 2, 15, Specials::kIeee));
    case DType::kFloat8E5M2FNUZ:
      return static_cast<T>(DecodeSmall(static_cast<const uint8_t*>(base)[i], 5, 2, 16,
                                        Specials::kNegativeZeroIsNan));
    case DType::kFloat4E2M1:
      return static_cast<T>(DecodeSmall(Nibble(base, i), 2, 1, 1, Specials::kNone));
    default:
      return T{};
  }
}

// Loaders: kWidth elements at once from index i, a multiple of kWidth, in two steps so that the
// next ones can be on their way while these are used; and one element anywhere.

template <typename T>
struct AnyLoader {
  static constexpr int kWidth = 1;
  using Raw = T;
  static __device__ T Fetch(const void* base, int32_t type, int64_t i) {
    return LoadAny<T>(base, type, i);
  }
  static __device__ void Decode(T raw, T* out) { out[0] = raw; }
  static __device__ T One(const void* base, int32_t type, int64_t i) {
    return LoadAny<T>(base, type, i);
  }
};

template <typename Word>
__device__ inline Word Stream(const void* base, int64_t i) {
  return __ldcs(static_cast<const Word*>(base) + i);
}

// Numbers that lie in memory as whole elements, 16 bytes at once.
template <typename Element, typename T>
struct WordLoader {
  static constexpr int kWidth = 16 / static_cast<int>(sizeof(Element));
  using Raw = uint4;
  static __device__ uint4 Fetch(const void* base, int32_t, int64_t i) {
    return Stream<uint4>(base, i / kWidth);
  }
  static __device__ void Decode(const uint4& words, T* out) {
    Element elements[kWidth];
    memcpy(elements, &words, sizeof(words));
#pragma unroll
    for (int k = 0; k < kWidth; ++k) out[k] = static_cast<T>(elements[k]);
  }
  static __device__ T One(const void* base, int32_t, int64_t i) {
    return static_cast<T>(static_cast<const Element*>(base)[i]);
  }
};

struct Float32Loader {
  static constexpr int kWidth = 4;
  using Raw = float4;
  static __device__ float4 Fetch(const void* base, int32_t, int64_t i) {
    return Stream<float4>(base, i / 4);
  }
  static __device__ void Decode(const float4& v, float* out) {
    out[0] = v.x, out[1] = v.y, out[2] = v.z, out[3] = v.w;
  }
  static __device__ float One(const void* base, int32_t, int64_t i) {
    return static_cast<const float*>(base)[i];
  }
};

// Two 16-bit numbers a word, the first in the low half.
template <float (*kConvert)(uint32_t)>
struct SixteenBitLoader {
  static constexpr int kWidth = 8;
  using Raw = uint4;
  static __device__ uint4 Fetch(const void* base, int32_t, int64_t i) {
    return Stream<uint4>(base, i / 8);
  }
  static __device__ void Decode(const uint4& v, float* out) {
    const uint32_t words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      out[2 * k] = kConvert(words[k] & 0xffffu);
      out[2 * k + 1] = kConvert(words[k] >> 16);
    }
  }
  static __device__ float One(const void* base, int32_t, int64_t i) {
    return kConvert(static_cast<const uint16_t*>(base)[i]);
  }
};
__device__ inline float HalfWord(uint32_t bits) { return HalfToFloat(static_cast<uint16_t>(bits)); }
using Float16Loader = SixteenBitLoader<HalfWord>;
using BFloat16Loader = SixteenBitLoader<BFloat16ToFloat>;

struct Float64Loader {
  static constexpr int kWidth = 2;
  using Raw = double2;
  static __device__ double2 Fetch(const void* base, int32_t, int64_t i) {
    return Stream<double2>(base, i / 2);
  }
  static __device__ void Decode(const double2& v, double* out) { out[0] = v.x, out[1] = v.y; }
  static __device__ double One(const void* base, int32_t, int64_t i) {
    return static_cast<const double*>(base)[i];
  }
};

}  // namespace vernier::gpu
