// A property of recurrent models: where the sequences of a batch are in their states.
#pragma once

#include "check/properties/properties.h"

namespace vernier {

/// For models whose states have the sequences of a batch along another axis than the first: the
/// sequences in another order, and each alone, give what they give within a batch. A state that is
/// reshaped across the batch breaks it.
PropertyRecord PermutedStates(Subject& subject);

}  // namespace vernier
