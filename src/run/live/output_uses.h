// What a plan does with the bytes of outputs, which need not leave their worker if nothing reads
// them.
#pragma once

namespace vernier {

struct Embedder;
struct RunPlan;

/// Does nothing in the plan need the bytes of outputs, as long as they match?
bool OutputsAreOnlyCompared(const RunPlan& plan);

/// Does nothing read a state at every step? Then each runner's worker feeds it back by itself.
/// `caller` may be null.
bool StatesMayStay(const RunPlan& plan, const Embedder* caller);

}  // namespace vernier
