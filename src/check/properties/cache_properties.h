// Properties of models that return their caches and take them again. They need no reference, and
// find what goes wrong between one inference and the next.
#pragma once

#include "check/properties/properties.h"

namespace vernier {

/// All tokens at once, one by one and three at a time give the same outputs and caches. Wrong
/// positions after a past, and caches that are swapped, in another layout or not empty break it.
PropertyRecord PrefillDecode(Subject& subject);

/// Padding that the mask excludes, on the left, on the right or in the caches, changes nothing for
/// the tokens. A mask that is ignored, or that covers only the past, and positions that count
/// padding, break it.
PropertyRecord PaddedSequence(Subject& subject);

/// A sequence that begins with empty caches gives what it gives in a process of its own, whatever
/// ran before it. A cache that a runner keeps inside breaks it.
PropertyRecord FreshSequence(Subject& subject);

}  // namespace vernier
