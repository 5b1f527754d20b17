// Properties of how a runner treats memory: its own, that of its inputs and that of its outputs.
#pragma once

#include "check/properties/properties.h"

namespace vernier {

/// Inputs must not be written to: they are the caller's.
PropertyRecord ReadOnlyInputs(Subject& subject);

/// Inputs may begin at any whole element.
PropertyRecord InputAlignment(Subject& subject);

/// Outputs that are made in given memory must not leave holes in it.
PropertyRecord PoisonedOutputs(Subject& subject);

/// Fresh and freed memory may hold anything.
PropertyRecord UninitialisedMemory(Subject& subject);

/// Why a runner may have died of its first inference: "it writes into its input 'x', which is
/// read-only". Empty when it does no such thing.
std::string ExplainDeath(const Probe::Shared& shared, const RunnerPlan& plan,
                         const ModelSource& model, const TensorMap& feed);

}  // namespace vernier
