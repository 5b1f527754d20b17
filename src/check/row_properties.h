// Properties of the rows of a batch, which must not see each other.
#pragma once

#include "check/properties.h"

namespace vernier {

/// Equal rows make equal outputs.
PropertyRecord IdenticalRows(Subject& subject);

/// Rows in another order make the same outputs in that order.
PropertyRecord PermutedRows(Subject& subject);

/// A row makes the same outputs alone as within a batch.
PropertyRecord BatchOfOne(Subject& subject);

}  // namespace vernier
