// What `blame` found, for the reports.
#pragma once

#include <optional>

#include "record/blame_record.h"
#include "record/run_record.h"

namespace vernier {

/// A record whose `blame` is the given one, and whose only pair has a line for each tensor that
/// both sides have: its total error is the times over tolerance. All reports take it.
RunRecord MakeBlameReport(BlameRecord blame, OriginRecord origin, std::optional<GraphRecord> graph);

}  // namespace vernier
