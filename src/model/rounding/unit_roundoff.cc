#include "model/rounding/unit_roundoff.h"

namespace vernier {

double UnitRoundoff(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return 0x1p-53;
    case DType::kFloat32:
      return 0x1p-24;
    case DType::kFloat16:
      return 0x1p-11;
    case DType::kBFloat16:
      return 0x1p-8;
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E4M3FNUZ:
      return 0x1p-4;
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ:
      return 0x1p-3;
    case DType::kFloat4E2M1:
      return 0x1p-2;
    default:
      return 0;
  }
}

}  // namespace vernier
