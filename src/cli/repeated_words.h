// Words that another word of the same option puts out of force: argparse, and so the peer, keeps
// the last without a remark.
#pragma once

#include "cli/arg_parser.h"
#include "vernier/status.h"

namespace vernier {

/// kInvalidArgument, naming the word that would not be used, where a list was given twice and the
/// last does not hold all of the first, or where a list such as --atol has two values for one
/// output. Single values may be given again: the last counts.
Status CheckRepeatedWords(const ParsedArgs& args);

/// Whether the option takes a list of [NAME:]VALUE with one value for a name.
bool TakesOneValueEach(const OptionRow& row);

}  // namespace vernier
