// Properties of the rows of a batch, which must not affect each other.
#pragma once

#include "check/properties/properties.h"

namespace vernier {

/// Equal rows give equal outputs.
PropertyRecord IdenticalRows(Subject& subject);

/// Rows in another order give the same outputs in that order.
PropertyRecord PermutedRows(Subject& subject);

/// A row gives the same outputs alone as within a batch.
PropertyRecord BatchOfOne(Subject& subject);

}  // namespace vernier
