// Layers that are wrong only where their tensors are marked as outputs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "vernier/blame_record.h"

namespace vernier {

/// Says so of each culprit that is far over its bound, though the layers that read it are within
/// theirs, and without probes so are the outputs behind it: the runtime then computes another
/// program for the tensor that is shown. `outputs` are the model's own, `errors` theirs without
/// probes (UnprobedOutputs::Errors), `weights` as of MarkCulprits: a layer of other weights is
/// another program itself.
void NoteMarkedAlone(const std::vector<std::string>& outputs,
                     const std::map<std::string, double>& errors,
                     const std::map<std::string, std::string>& weights, BlameRecord& record);

}  // namespace vernier
