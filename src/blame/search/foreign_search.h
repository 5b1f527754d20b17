// A reference in another format than ONNX: its tensors are paired with the candidate's by value.
#pragma once

#include "blame/probe/search_subject.h"
#include "blame/sides/tensor_pairs.h"
#include "vernier/blame_record.h"
#include "vernier/status.h"

namespace vernier {

/// Runs both sides on the first feed with all tensors marked, and pairs them (PairForeignTensors).
/// Fills `record.tensor_pairs`, and notes how many there are of each kind. Errors of running the
/// reference, with its name; kCancelled. What the candidate cannot expose has no partner.
Result<TensorPairs> PairForeignSides(const SearchSubject& subject, BlameRecord& record);

/// Adds to the `why` of culprits what the reference calls their outputs.
void NameForeignTensors(BlameRecord& record);

}  // namespace vernier
