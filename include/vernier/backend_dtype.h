// Converts vernier::DType to and from the (code, bits) pair of the plug-in boundary.
#pragma once

#include <array>
#include <optional>

#include "vernier/backend_abi.h"
#include "vernier/dtype.h"

namespace vernier {

/// One element type on both sides. `bits` is the size of an element, 0 for strings.
struct AbiDType {
  DType dtype;
  uint8_t code;
  uint8_t bits;
};

/// Every type but kUndefined. A pair (code, bits) occurs once.
inline constexpr std::array<AbiDType, kDTypeCount - 1> kAbiDTypes = {{
    {DType::kFloat32, VN_DTYPE_FLOAT, 32},
    {DType::kUint8, VN_DTYPE_UINT, 8},
    {DType::kInt8, VN_DTYPE_INT, 8},
    {DType::kUint16, VN_DTYPE_UINT, 16},
    {DType::kInt16, VN_DTYPE_INT, 16},
    {DType::kInt32, VN_DTYPE_INT, 32},
    {DType::kInt64, VN_DTYPE_INT, 64},
    {DType::kString, VN_DTYPE_STRING, 0},
    {DType::kBool, VN_DTYPE_BOOL, 8},
    {DType::kFloat16, VN_DTYPE_FLOAT, 16},
    {DType::kFloat64, VN_DTYPE_FLOAT, 64},
    {DType::kUint32, VN_DTYPE_UINT, 32},
    {DType::kUint64, VN_DTYPE_UINT, 64},
    {DType::kComplex64, VN_DTYPE_COMPLEX, 64},
    {DType::kComplex128, VN_DTYPE_COMPLEX, 128},
    {DType::kBFloat16, VN_DTYPE_BFLOAT, 16},
    {DType::kFloat8E4M3FN, VN_DTYPE_FLOAT8_E4M3FN, 8},
    {DType::kFloat8E4M3FNUZ, VN_DTYPE_FLOAT8_E4M3FNUZ, 8},
    {DType::kFloat8E5M2, VN_DTYPE_FLOAT8_E5M2, 8},
    {DType::kFloat8E5M2FNUZ, VN_DTYPE_FLOAT8_E5M2FNUZ, 8},
    {DType::kUint4, VN_DTYPE_UINT, 4},
    {DType::kInt4, VN_DTYPE_INT, 4},
    {DType::kFloat4E2M1, VN_DTYPE_FLOAT4_E2M1FN, 4},
}};

/// kUndefined, and a number that is not a DType, give VN_DTYPE_SKIPPED with 0 bits.
constexpr AbiDType ToAbi(DType dtype) {
  for (const AbiDType& row : kAbiDTypes) {
    if (row.dtype == dtype) return row;
  }
  return {DType::kUndefined, VN_DTYPE_SKIPPED, 0};
}

/// nullopt for a pair that stands for none of vernier's types.
constexpr std::optional<DType> FromAbi(uint8_t code, uint8_t bits) {
  for (const AbiDType& row : kAbiDTypes) {
    if (row.code == code && row.bits == bits) return row.dtype;
  }
  return std::nullopt;
}

}  // namespace vernier
