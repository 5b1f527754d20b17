// Command lines of a command, as vernier's own parser reads them.
#pragma once

#include <string>
#include <vector>

#include "cli/arg_parser.h"
#include "cli/bind_run.h"
#include "vernier/status.h"

namespace vernier::python {

/// A command line that was understood. The arguments point into the table's rows, which are
/// constants.
struct Words {
  std::vector<std::string> words;
  ParsedArgs args;
  Invocation invocation;
};

/// kInvalidArgument, in argparse's words, for what cannot be parsed.
Result<Words> ParseWords(const std::string& command, std::vector<std::string> words);

/// Puts the package's own settings of variables before those of the options, which count.
inline void AddBefore(const std::vector<std::string>& own, std::vector<std::string>& given) {
  given.insert(given.begin(), own.begin(), own.end());
}

}  // namespace vernier::python
