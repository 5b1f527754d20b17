// Which nodes TensorRT makes one layer of.
#pragma once

#include <span>

#include "surgeon/asked_sets.h"
#include "surgeon/mixed_precision.h"

namespace vernier {

/// These nodes without activations that alone read what another of them makes, and become one layer
/// with it: what that layer computes in follows from the other one. Empty where none is of that
/// kind. What TensorRT will really fuse is only known of an engine.
NodeSet WithoutFused(const NodeSet& kept, std::span<const LowerableNode> nodes);

}  // namespace vernier
