// Whether rounding explains the differences of the model's outputs.
#pragma once

#include <string>

#include "blame/judge/amplified_rounding.h"
#include "blame/probe/search_subject.h"
#include "vernier/blame_record.h"

namespace vernier {

/// After the layers of `record`, of which these are the amplified tensors: where outputs are over
/// their bounds though no layer makes an error, fills
/// `record.output_conditions` and `record.condition`: for each of these outputs from the layers, or
/// from how far the candidate moves it at most when each float of the inputs moves by one rounding
/// step (of an iteration without floats, each of the model's weights), in three draws for up to
/// eight iterations; it ends with the draw that explains all. Where the model quantises, steps that
/// flip move outputs, whatever the number of roundoffs: there are up to eight draws, of the inputs
/// and of inputs, weights and scales together, and the condition is twice such a movement, in
/// multiples of the error bound. An output that moves
/// on the same inputs, too, has no condition: `record.random_nodes` are then the random nodes.
/// Errors of running; kCancelled.
Status ExplainOutputs(const SearchSubject& subject, const AmplifiedTensors& amplified,
                      BlameRecord& record);

/// A sentence where `record.output_conditions` explain what the outputs differ by; else empty.
/// Where the model `quantises`, steps that flip do.
std::string DescribeCondition(const BlameRecord& record, bool quantises);

}  // namespace vernier
