// From the errors of all layers to who is blamed, and for what.
#pragma once

#include <string>
#include <vector>

#include "record/blame_record.h"

namespace vernier {

/// Fills culprits, first_divergence and output_error from `record.layers`, which are in topological
/// order, from first_nonfinite and from `outputs`, the names of the model's own outputs. The rules
/// are the table in docs/blame.md.
void Accuse(const std::vector<std::string>& outputs, BlameRecord& record);

}  // namespace vernier
