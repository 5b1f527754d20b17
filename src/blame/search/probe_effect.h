// Whether the outputs pass with probes and fail without, or the other way round, and which probes
// do it.
#pragma once

#include "blame/probe/search_subject.h"
#include "vernier/blame_record.h"
#include "vernier/status.h"

namespace vernier {

/// Completes `record.disturbance`, which the batches have measured: one sentence, and where
/// rounding does not explain the difference the smallest set of `visible` tensors that makes it, as
/// SearchDisturbance. kCancelled.
Status SearchProbeEffect(const SearchSubject& subject, const NameSet& visible, BlameRecord& record);

}  // namespace vernier
