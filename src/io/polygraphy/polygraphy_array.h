// Tensors in Polygraphy's JSON: {"array": "<base64 of an npy file>", "polygraphy_class":
// "ndarray"}.
//
// Types that NumPy lacks are raw bytes in the npy file, as Polygraphy writes them; a sibling key,
// "dtype": "bfloat16", which Polygraphy ignores on loading, keeps their name.
#pragma once

#include <cstdint>

#include "io/bytes/tensor_pool.h"
#include "io/json/json_tape.h"
#include "io/json/json_writer.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// A tensor from an ndarray object or a LazyArray around one, in memory of `pool`; of rank 0 from a
/// LazyArray around a bare number, which is what Polygraphy saves of a NumPy float64. Also reads
/// the old forms: payloads as latin-1 text and npz payloads, whose first member counts. kMalformed,
/// with the byte offset, for anything else; torch tensors are refused with what to do instead.
Result<Tensor> DecodePolygraphyArray(JsonValue value, TensorPool* pool);

enum class PolygraphyArrayForm : uint8_t {
  kArray,      ///< the ndarray object itself, as in saved inputs
  kLazyArray,  ///< inside {"values": ..., "polygraphy_class": "LazyArray"}, as in saved outputs
};

/// Writes a tensor byte for byte as Polygraphy does. Errors stay in the writer.
void WritePolygraphyArray(JsonWriter& writer, const Tensor& tensor, PolygraphyArrayForm form);

}  // namespace vernier
