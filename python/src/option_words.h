// The options of a command, as a call of Python gives them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "options/bind/bind_run.h"
#include "options/words/arg_parser.h"
#include "util/log/log.h"
#include "vernier/status.h"

namespace vernier::python {

/// Options that were understood. The arguments point into the table's rows, which are constants.
struct Words {
  ParsedArgs args;
  Invocation invocation;
};

/// The name of an output or "", the value, and its text. Numbers are taken as they are, everything
/// else by its text.
using OptionValue = std::tuple<std::string, nanobind::object, std::string>;
/// What a call of Python gives: options by their flags, and operands by their dests ("model_file").
using CallOptions = std::vector<std::pair<std::string, std::vector<OptionValue>>>;

/// kInvalidArgument, in argparse's words, for what cannot be used; what has no effect and does no
/// harm is a warning. `objects`: how many runners are objects of Python.
Result<Words> ReadOptions(const std::string& command, const CallOptions& options, Logger& logger,
                          size_t objects = 0);

/// Puts the package's own settings of variables before those of the options, which count.
inline void AddBefore(const std::vector<std::string>& own, std::vector<std::string>& given) {
  given.insert(given.begin(), own.begin(), own.end());
}

}  // namespace vernier::python
