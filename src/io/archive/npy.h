// Tensors from and to NumPy's .npy format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "io/archive/npy_header.h"
#include "io/bytes/byte_sink.h"
#include "io/bytes/byte_source.h"
#include "io/bytes/tensor_pool.h"
#include "vernier/dtype.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Bytes of all elements. kMalformed, before anything is allocated, when the count overflows or
/// more bytes are claimed than the `present` ones. Trailing bytes are ignored, as NumPy does.
Result<uint64_t> NpyDataSize(const NpyHeader& header, uint64_t present);

/// A tensor from a complete .npy file, in memory of `pool` (may be null). Elements that are stored
/// as a tensor has them are read into their place; of others (dimensions in another order, strings,
/// four-bit types) at most one block is held besides. `stored_as`: see NpyElementType. kMalformed
/// for everything that NumPy refuses without pickle, and for shorter data than claimed; else the
/// errors of `source`.
Result<Tensor> ReadNpy(ByteSource& source, TensorPool* pool,
                       std::optional<DType> stored_as = std::nullopt);

/// The same from a file in memory.
Result<Tensor> ReadNpy(std::span<const std::byte> bytes,
                       std::optional<DType> stored_as = std::nullopt);

/// How many bytes an .npy file has, judged by the first ones of it; nullopt when `start` does not
/// hold its whole header or is none.
std::optional<uint64_t> NpySizeFromStart(std::span<const std::byte> start);

/// Whether the type has to be remembered beside the array, because NumPy's header cannot.
bool NpyLosesType(DType dtype);

/// Writes what numpy.save writes. Four-bit types become one byte an element, the value in the low
/// bits; strings become UTF-32 of one width (NumPy drops NUL characters at their ends).
Status WriteNpy(const Tensor& tensor, ByteSink& sink);

}  // namespace vernier
