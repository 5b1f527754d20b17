// Markdown made from the option rows: docs/cli.md and docs/coming-from-polygraphy.md.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/table/command_table.h"
#include "options/table/option_table.h"

namespace vernier {

/// docs/cli.md: a list of the commands, then every command with its options, one table per group.
/// An option that an earlier command explained is only named.
std::string FormatReference(std::span<const CommandSpec> commands);

/// Every flag of Polygraphy as same, better, refused or later, then the flags that it does not
/// have.
std::string FormatPolygraphyComparison(const OptionTable& table);

/// "same", "better", "refused", "later".
std::string_view StandingName(Standing standing);

}  // namespace vernier
