// Markdown made from the option rows: docs/cli.md and docs/coming-from-polygraphy.md.
#pragma once

#include <string>
#include <string_view>

#include "cli/help_text.h"
#include "cli/option_table.h"

namespace vernier {

/// Every option with what it takes and does, one table per group.
std::string FormatOptionReference(const OptionTable& table, const HelpSubject& subject);

/// Every flag of the peer as same, better, refused or later, then the flags that it does not have.
std::string FormatPeerComparison(const OptionTable& table);

/// "same", "better", "refused", "later".
std::string_view StandingName(Standing standing);

}  // namespace vernier
