// A manual page made from the option rows.
#pragma once

#include <string>
#include <string_view>

#include "cli/table/command_table.h"
#include "options/table/option_table.h"

namespace vernier {

/// roff source for section 1. `version` and `date` ("2026-03-01") go into the footer; an empty date
/// keeps the page reproducible.
std::string FormatManPage(const OptionTable& table, const CommandSpec& command,
                          std::string_view version, std::string_view date);

/// "vernier-data-concat.1": the file of a command's page.
std::string ManPageFile(const CommandSpec& command);

}  // namespace vernier
