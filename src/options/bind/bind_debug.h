// From the command line to a debugging session.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "debug/debug_session.h"
#include "options/words/arg_parser.h"
#include "vernier/status.h"

namespace vernier {

/// The end of a command line: --check with all words after it, as in Polygraphy's parser, or the
/// options of `run` after "--". Both are empty when there is neither.
struct CheckWords {
  std::vector<std::string> command, run_options;
};

/// Takes these words out of a command line.
CheckWords TakeCheckWords(std::vector<std::string>& words);

/// What a tool needs from its session.
struct DebugTool {
  std::string_view suffix = {};            ///< DebugSessionPlan::suffix
  std::string_view default_artifact = {};  ///< empty: the tool makes no file for its iterations
  bool replays = true;                     ///< false where the same trial may end otherwise
};

/// kInvalidArgument, naming the flag; also where our own `run`, as the check, would write over the
/// model or another of its files.
Result<DebugSessionPlan> BindDebugSession(const ParsedArgs& args, CheckWords check,
                                          const DebugTool& tool);

}  // namespace vernier
