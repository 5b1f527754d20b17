// Element types. The numbers are those of ONNX's TensorProto.DataType (onnx-ml.proto), so the ONNX
// reader needs no table. Header-only: plug-ins use it without linking anything. All functions are
// constexpr; their argument must be an enumerator of DType.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace vernier {

/// The type of a tensor's elements. Names are NumPy's, or ml_dtypes' for the small floats, and the
/// formats those of the OCP 8-bit and microscaling specifications (E4M3FN: finite, no infinity).
enum class DType : uint8_t {
  kUndefined = 0,  ///< not known, or no tensor
  kFloat32 = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,  ///< of any length, in UTF-8 or any other bytes
  kBool = 9,    ///< one byte, 0 or 1
  kFloat16 = 10,
  kFloat64 = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBFloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUint4 = 21,  ///< 4-bit types are packed, see ByteSize
  kInt4 = 22,
  kFloat4E2M1 = 23,
};
/// One more than the largest number.
inline constexpr int kDTypeCount = 24;

/// The kind of arithmetic for a type. kNone for kUndefined.
enum class DTypeKind : uint8_t {
  kNone,
  kFloat,  ///< of any width, with whatever infinities and NaN the format has
  kSignedInt,
  kUnsignedInt,
  kBool,
  kComplex,
  kString
};

namespace internal {

struct DTypeRow {
  std::string_view name;
  DTypeKind kind;
  int bits;
};

// Indexed by the enum's value.
inline constexpr std::array<DTypeRow, kDTypeCount> kDTypeRows = {{
    {"undefined", DTypeKind::kNone, 0},        {"float32", DTypeKind::kFloat, 32},
    {"uint8", DTypeKind::kUnsignedInt, 8},     {"int8", DTypeKind::kSignedInt, 8},
    {"uint16", DTypeKind::kUnsignedInt, 16},   {"int16", DTypeKind::kSignedInt, 16},
    {"int32", DTypeKind::kSignedInt, 32},      {"int64", DTypeKind::kSignedInt, 64},
    {"string", DTypeKind::kString, 0},         {"bool", DTypeKind::kBool, 8},
    {"float16", DTypeKind::kFloat, 16},        {"float64", DTypeKind::kFloat, 64},
    {"uint32", DTypeKind::kUnsignedInt, 32},   {"uint64", DTypeKind::kUnsignedInt, 64},
    {"complex64", DTypeKind::kComplex, 64},    {"complex128", DTypeKind::kComplex, 128},
    {"bfloat16", DTypeKind::kFloat, 16},       {"float8_e4m3fn", DTypeKind::kFloat, 8},
    {"float8_e4m3fnuz", DTypeKind::kFloat, 8}, {"float8_e5m2", DTypeKind::kFloat, 8},
    {"float8_e5m2fnuz", DTypeKind::kFloat, 8}, {"uint4", DTypeKind::kUnsignedInt, 4},
    {"int4", DTypeKind::kSignedInt, 4},        {"float4_e2m1fn", DTypeKind::kFloat, 4},
}};

constexpr const DTypeRow& Row(DType dtype) { return kDTypeRows[static_cast<size_t>(dtype)]; }

}  // namespace internal

/// NumPy's (or ml_dtypes') name: "float32", "bfloat16", "float8_e4m3fn", "int4", "bool", ...
/// kUndefined is "undefined".
constexpr std::string_view DTypeName(DType dtype) { return internal::Row(dtype).name; }

/// The inverse of DTypeName(). nullopt for any other name, "undefined" included.
constexpr std::optional<DType> DTypeFromName(std::string_view name) {
  for (size_t i = 1; i < internal::kDTypeRows.size(); ++i) {
    if (internal::kDTypeRows[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

/// The DType of an ONNX data type number. nullopt if it is none of the types above, and for 0
/// (undefined).
constexpr std::optional<DType> DTypeFromOnnx(int64_t number) {
  if (number <= 0 || number >= kDTypeCount) return std::nullopt;
  return static_cast<DType>(number);
}

/// How elements of the type are compared.
constexpr DTypeKind Kind(DType dtype) { return internal::Row(dtype).kind; }

/// Whole numbers of any width, signed or not; kBool is none.
constexpr bool IsIntegral(DType dtype) {
  return Kind(dtype) == DTypeKind::kSignedInt || Kind(dtype) == DTypeKind::kUnsignedInt;
}

/// Bits of one element: 4 for the packed types, 0 for strings and kUndefined.
constexpr int BitsOf(DType dtype) { return internal::Row(dtype).bits; }

/// Bytes of `count` elements stored densely. 4-bit types pack two elements into a byte, the first
/// one in the low nibble, as in ONNX's raw_data; an odd count leaves the last high nibble unused.
/// nullopt if the size overflows or the type has no fixed size (strings, kUndefined).
constexpr std::optional<uint64_t> ByteSize(DType dtype, uint64_t count) {
  const auto bits = static_cast<uint64_t>(BitsOf(dtype));
  if (bits == 0) return std::nullopt;
  if (bits == 4) return count / 2 + count % 2;
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(count, bits / 8, &bytes)) return std::nullopt;
  return bytes;
}

}  // namespace vernier
