// What all lines about a compared output share. Internal to report.
#pragma once

#include <string>
#include <string_view>

#include "util/log/log.h"
#include "vernier/tensor.h"

namespace vernier {

/// "'y' (dtype=float32, shape=(2, 3))".
inline std::string Described(std::string_view name, DType dtype, const Dims& dims) {
  return "'" + std::string(name) + "' (dtype=" + std::string(DTypeName(dtype)) +
         ", shape=" + FormatDims(dims) + ")";
}

inline Severity DetailSeverity(bool failed) {
  return failed ? Severity::kInfo : Severity::kVerbose;
}
inline Severity VerdictSeverity(bool passed) {
  return passed ? Severity::kFinish : Severity::kError;
}

}  // namespace vernier
