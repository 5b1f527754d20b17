// What a record says about the call and the machine.
#pragma once

#include "options/bind/bind_run.h"
#include "options/words/arg_parser.h"
#include "vernier/run_record.h"

namespace vernier {

/// The words, the machine, the options that were given, and the defaults of those rows of `table`
/// that were not.
OriginRecord DescribeOrigin(const ParsedArgs& args, const OptionTable& table,
                            const Invocation& invocation);

}  // namespace vernier
