// Tensors from and to NumPy's .npy format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "io/byte_sink.h"
#include "io/npy_header.h"
#include "vernier/dtype.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Bytes of all elements. kMalformed, before anything is allocated, when the count overflows or
/// more bytes are claimed than the `present` ones. Trailing bytes are ignored, as NumPy does.
Result<uint64_t> NpyDataSize(const NpyHeader& header, uint64_t present);

/// Whether the stored elements are, byte for byte, those of a tensor of `dtype`.
bool NpyIsDense(const NpyHeader& header, DType dtype);

/// A tensor from a complete .npy file. Wraps `bytes`, kept alive by `owner`, where they are dense
/// and aligned; otherwise (other byte or dimension order, strings, four-bit types) converts into
/// new memory. With no owner the elements are always copied. `stored_as`: see NpyElementType.
/// kMalformed for everything that NumPy refuses without pickle, and for shorter data than claimed.
Result<Tensor> ReadNpy(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                       std::optional<DType> stored_as = std::nullopt);

/// Whether the type has to be remembered beside the array, because NumPy's header cannot.
bool NpyLosesType(DType dtype);

/// Writes what numpy.save writes. Four-bit types become one byte an element, the value in the low
/// bits; strings become UTF-32 of one width (NumPy drops NUL characters at their ends).
Status WriteNpy(const Tensor& tensor, ByteSink& sink);

/// The number of bytes that WriteNpy writes; kIo when it overflows.
Result<uint64_t> NpySize(const Tensor& tensor);

}  // namespace vernier
