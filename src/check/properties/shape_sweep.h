// Other sizes of the dimensions that a model leaves free.
#pragma once

#include "check/properties/properties.h"

namespace vernier {

/// Runs twice to the same result at several sizes of each free dimension, and of all. Where the
/// runner refuses sizes because one dimension has to be as large as others together, it is: by
/// FindSizeSum(), or, without names, as the tokens of a model with caches have it.
PropertyRecord ShapeSweep(Subject& subject);

}  // namespace vernier
