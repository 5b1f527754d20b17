// Options that were given and that nothing would use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options/words/arg_parser.h"
#include "vernier/status.h"

namespace vernier {

/// Whose options are checked. Polygraphy takes its own without a word, and so does a lenient run.
enum class UseOf : uint8_t { kAllOptions, kOwnOptions };

/// kInvalidArgument, naming flag and word, for what would not be used as it was given: an option
/// without the one that it needs (OptionRow::needs), or beside one that puts it out of force
/// (OptionRow::idle_beside), where it is one of ours or saves something, a word that another one
/// puts out of force (CheckRepeatedWords), a number that double has no room for, and an empty name
/// for what is to be saved or read. `objects`: how many runners there are that are objects of
/// Python, and so of no kind that an option needs.
Status CheckOptionUse(const OptionTable& table, const ParsedArgs& args, UseOf whose,
                      size_t objects = 0);

/// kInvalidArgument, naming the first option that has no effect beside `flag`, which was given by
/// other means, and how (`called`: "compare_func").
Status CheckIdleBeside(const ParsedArgs& args, std::string_view flag, std::string_view called);

/// kInvalidArgument, naming the first of a runner's own options (`own`, the words of --runner
/// behind its backend) that is for runners of another kind than `kind` ("onnxrt").
Status CheckRunnerOptions(const OptionTable& table, const ParsedArgs& own, std::string_view kind);

/// Of Polygraphy's options that save nothing, and of those for a runner that the command line does
/// not have, which ones have no effect: a sentence for each option or runner that is missing, or
/// that puts them out of force. `objects` as above.
std::vector<std::string> IdleOptionWarnings(const OptionTable& table, const ParsedArgs& args,
                                            size_t objects = 0);

/// `words` without the options that need two sides, for the run of one of them alone. As they are
/// where they cannot be parsed.
std::vector<std::string> WithoutComparison(const OptionTable& table,
                                           std::span<const std::string> words);

}  // namespace vernier
