// How tensors come out of .npz and .safetensors files.
#pragma once

#include <cstdint>

namespace vernier {

/// kRead copies them into memory. The others map what the file holds as memory does, and read the
/// rest (deflated, in another order, in a type that NumPy lacks); CheckIntact() must be
/// called before anything that was made from mapped bytes is used. - kMapWherePossible:
/// without a look at checksums, and elements may stand at any address; - kMapWhereFaster:
/// those so large that a map costs less than a copy, if their elements are aligned; checksums
/// are compared.
enum class ArchiveAccess : uint8_t { kRead, kMapWherePossible, kMapWhereFaster };

}  // namespace vernier
