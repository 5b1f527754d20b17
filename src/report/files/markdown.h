// A record as Markdown for a pull request, and as annotations of a GitHub workflow.
#pragma once

#include <string>

#include "vernier/run_record.h"

namespace vernier {

/// Verdict and coverage, the outputs that need a look, the runners, and the configuration folded
/// away. Stays below the 65,536 characters that GitHub takes in a comment.
std::string FormatMarkdown(const RunRecord& record);

/// `::error` and `::warning` lines: one for the verdict unless all is well, and up to nine for
/// layers that are to blame and outputs; GitHub shows no more than ten of a kind. Empty when there
/// is nothing to say.
std::string FormatAnnotations(const RunRecord& record);

}  // namespace vernier
