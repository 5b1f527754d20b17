// Whether there is memory for the outputs of one iteration.
#pragma once

#include <cstdint>

#include "backend/wire/messages.h"
#include "run/live/inference_scheduler.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Bytes of the outputs whose shapes are known before the inference: each dimension is fixed, or
/// has the name of one of an input's, whose size the feed has. Others count as nothing. The
/// largest number where they are too many to count.
uint64_t KnownOutputBytes(const SessionDescription& session, const TensorMap& feed);

/// The known outputs of all runners that are in memory together until they are compared, with feeds
/// like this one: those of one iteration, or, of N that are inferred at the same time, of N + 1. 0
/// where outputs may stay on a device. The largest number where they are too many to count.
uint64_t OutputBytesAtOnce(const InferenceScheduler& live, const TensorMap& feed);

/// kMalformed where these take more than the memory that is free. `counted` are those of earlier
/// feeds, which are or will be in use: only what is beyond them is looked for, and it becomes the
/// most of them.
Status CheckOutputRoom(const InferenceScheduler& live, const TensorMap& feed, uint64_t& counted);
/// The same where no other feed is in use.
Status CheckOutputRoom(const InferenceScheduler& live, const TensorMap& feed);

}  // namespace vernier
