// The options of the commands that others than the command line call as well, or write words for.
#pragma once

#include <string_view>

#include "options/table/option_table.h"
#include "vernier/status.h"

namespace vernier {

OptionTable RunOptionTable();
OptionTable CompareOptionTable();
OptionTable BlameOptionTable();
OptionTable ProfileOptionTable();
OptionTable ConsistencyOptionTable();
OptionTable ExtremesOptionTable();
OptionTable LintOptionTable();
OptionTable ConvertOptionTable();

/// Those of a command by its name: "run", "check lint". kInvalidArgument for any other.
Result<OptionTable> OptionsOf(std::string_view command);

}  // namespace vernier
