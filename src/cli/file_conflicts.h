// A command that would write over what it reads, or write two things to one place.
#pragma once

#include <string_view>

#include "cli/arg_parser.h"
#include "vernier/status.h"

namespace vernier {

/// kInvalidArgument, in one sentence, where a file that options write is one that the command line
/// reads (the model, saved data, scripts, files that runners name), or where two of them write the
/// same. Devices and pipes are nobody's. `output` is one more dest that is written; commands that
/// may change a file in place leave it out.
Status CheckFileConflicts(const ParsedArgs& args, std::string_view output = {});

}  // namespace vernier
