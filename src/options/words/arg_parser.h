// Parses a command line exactly as Python 3.11's argparse.parse_known_args would with Polygraphy's
// parser: greedy lists, unambiguous prefixes, --a=b, -vv, optional positionals, "--". Polygraphy's
// parser object is the oracle (tests/cli_oracle).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options/table/option_table.h"
#include "options/table/parsed_args.h"
#include "vernier/status.h"

namespace vernier {

enum class ParseEnd : uint8_t {
  kParsed,      ///< `args` and `unknown` hold the result
  kHelp,        ///< help was requested before any error
  kUsageError,  ///< `error` says what is wrong: exit code 2
};

struct ParseResult {
  ParseEnd end = ParseEnd::kParsed;
  ParsedArgs args;
  /// Unknown options and surplus positionals, as argparse collects them. Polygraphy refuses to run
  /// when there are any ("Unrecognized Options", exit code 1).
  std::vector<std::string> unknown;
  /// argparse's words: "argument --seed: invalid int value: 'x'".
  std::string error;
  /// The same with all choices in one list, where Polygraphy has some of them alone.
  std::string own_error;
};

/// `words` are the words after the command's name. Opens no file. Deviations from argparse: names
/// of kOurs join the search for abbreviations only when no kPolygraphy name matches, and rows with
/// wider_than_polygraphy take more.
ParseResult ParseCommandLine(const OptionTable& table, std::span<const std::string> words);

/// Adds an option that a program gives, after the checks of its values that a command line has.
/// kInvalidArgument in argparse's words.
Status AddOption(GivenOption given, ParsedArgs& args);

/// Moves the words `--BACKEND.OPTION=VALUE` from `unknown` to `args`.
void TakePluginOptions(ParseResult& result);

}  // namespace vernier
