// The options of a command, as a call of Python gives them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string>
#include <vector>

#include "cli/bind/bind_run.h"
#include "cli/words/arg_parser.h"
#include "util/log.h"
#include "vernier/status.h"

namespace vernier::python {

/// Options that were understood. The arguments point into the table's rows, which are constants.
struct Words {
  ParsedArgs args;
  Invocation invocation;
};

/// What a call of Python gives: words of a command line (models and runners), and options by their
/// flags, as tuples (flag, values): each value is a tuple of the name of an output or "", the
/// value, and its text. Numbers are taken as they are, everything else by its text.
using CallOptions = std::vector<nanobind::object>;

/// kInvalidArgument, in argparse's words, for what cannot be used; what has no effect and does no
/// harm is a warning. `objects`: how many runners are objects of Python.
Result<Words> ReadOptions(const std::string& command, const CallOptions& options, Logger& logger,
                          size_t objects = 0);

/// Puts the package's own settings of variables before those of the options, which count.
inline void AddBefore(const std::vector<std::string>& own, std::vector<std::string>& given) {
  given.insert(given.begin(), own.begin(), own.end());
}

}  // namespace vernier::python
