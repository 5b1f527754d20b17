// What `blame` found, for the reports.
#pragma once

#include "vernier/run_record.h"

namespace vernier {

/// The record, whose `blame` is there, with a pair more that has a line for each tensor that both
/// sides have: its total error is the times over tolerance. A record without a graph gets that of
/// the layers.
RunRecord WithLayers(RunRecord record);

}  // namespace vernier
