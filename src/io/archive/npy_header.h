// The header of NumPy's .npy files, versions 1.0, 2.0 and 3.0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "vernier/dtype.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

struct NpyHeader {
  char kind = 0;            ///< NumPy's type letter: f i u b c V U S
  uint64_t item_bytes = 0;  ///< bytes of one element as stored
  bool big_endian = false;
  bool fortran_order = false;
  Dims shape;
  uint64_t data_offset = 0;  ///< where the elements begin

  /// "<f4", "|V1": for messages.
  std::string TypeText() const;
};

/// The bytes from the start of a file that hold everything up to the elements. Needs the first 12
/// bytes (fewer only if the file ends there). kMalformed when they are no .npy file of a known
/// version or the header is longer than 64 KiB.
Result<uint64_t> NpyPreambleSize(std::span<const std::byte> start);

/// Reads the header at the start of `bytes`, which may extend beyond it. kMalformed, saying what,
/// for headers that NumPy refuses, for more than 64 dimensions, and by name for object arrays,
/// structured, date and other types that no tensor has.
Result<NpyHeader> ParseNpyHeader(std::span<const std::byte> bytes);

/// The tensor type of the elements. `stored_as` is a type that NumPy lacks, remembered beside the
/// array; kMalformed when the stored elements cannot be of that type. Without it raw two-byte
/// elements are bfloat16 (the only such type whose arrays NumPy writes so), raw one-byte elements
/// uint8, and the name f1, which NumPy writes and cannot read, float8_e5m2.
Result<DType> NpyElementType(const NpyHeader& header, std::optional<DType> stored_as);

/// NumPy's name of the type when it writes tensors of `dtype`, "<f4". Types that NumPy lacks are
/// raw bytes, "<V2" and "<V1". Strings are "<U" and `string_width`, the longest one's code points.
std::string NpyTypeText(DType dtype, uint64_t string_width);

/// A complete version 1.0 header, byte for byte NumPy's.
std::string FormatNpyHeader(std::string_view type_text, std::span<const int64_t> shape);

}  // namespace vernier
