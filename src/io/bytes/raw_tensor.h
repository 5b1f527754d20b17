// Tensors whose bytes stand in a file as they are in memory.
#pragma once

#include "io/bytes/byte_source.h"
#include "io/bytes/tensor_pool.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// A tensor of everything that remains of `source`, in memory of `pool` (may be null). kMalformed
/// when the size does not fit dtype and dims, or the offsets of strings are damaged.
Result<Tensor> ReadRawTensor(ByteSource& source, TensorPool* pool, DType dtype, const Dims& dims);

}  // namespace vernier
