// Properties of models that hand out their caches and take them again. They need no reference, and
// find what goes wrong between one inference and the next.
#pragma once

#include "check/properties.h"

namespace vernier {

/// All tokens at once, one by one and three at a time give the same outputs and caches. Positions
/// that are off behind a past, caches that are swapped, laid out otherwise or not empty break it.
PropertyRecord PrefillDecode(Subject& subject);

/// Padding that the mask excludes, on the left, on the right or in the caches, changes nothing for
/// the tokens. A mask that is not looked at, or of the past alone, and positions that count
/// padding, break it.
PropertyRecord PaddedSequence(Subject& subject);

/// A sequence that begins with empty caches gives what it gives in a process of its own, whatever
/// ran before it. A cache that a runner keeps to itself breaks it.
PropertyRecord FreshSequence(Subject& subject);

}  // namespace vernier
