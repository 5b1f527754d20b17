// A manual page made from the option rows.
#pragma once

#include <string>
#include <string_view>

#include "cli/help_text.h"
#include "cli/option_table.h"

namespace vernier {

/// roff source for section 1. `version` and `date` ("2026-03-01") go into the footer; an empty date
/// keeps the page reproducible.
std::string FormatManPage(const OptionTable& table, const HelpSubject& subject,
                          std::string_view version, std::string_view date);

/// "vernier-data-concat.1": the file of a command's page.
std::string ManPageFile(const HelpSubject& subject);

}  // namespace vernier
