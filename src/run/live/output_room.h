// Whether there is memory for the outputs of one iteration.
#pragma once

#include <cstdint>

#include "backend/messages.h"
#include "run/live/live_runs.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Bytes of the outputs whose shapes are known before the inference: each dimension is fixed, or
/// has the name of one of an input's, whose size the feed tells. Others count as nothing. The
/// largest number where they are too many to count.
uint64_t KnownOutputBytes(const SessionDescription& session, const TensorMap& feed);

/// kMalformed where the known outputs of all runners, which lie beside each other until they are
/// compared, take more than the memory that is free: those of one iteration, or of as many as are
/// inferred at the same time. Not where outputs may stay on a device.
Status CheckOutputRoom(const LiveRuns& live, const TensorMap& feed);

}  // namespace vernier
