// Words that a later word of the same option overrides: argparse, and so Polygraphy, silently
// keeps the last.
#pragma once

#include <string>
#include <vector>

#include "options/words/arg_parser.h"
#include "vernier/status.h"

namespace vernier {

/// kInvalidArgument, naming the word that would not be used, where a list was given twice and the
/// last does not hold all of the first, where a place to write to was given twice with different
/// values, or where a list such as --atol has two values for one output. Other single values may be
/// given again: the last counts, and RepeatedValueWarnings has a line on it.
Status CheckRepeatedWords(const ParsedArgs& args);

/// "--iterations: given twice; 4 counts", for each single value, other than a place to write to,
/// that was given again with another value.
std::vector<std::string> RepeatedValueWarnings(const ParsedArgs& args);

}  // namespace vernier
