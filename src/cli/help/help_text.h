// Help made from the option rows.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "cli/table/command_table.h"
#include "options/table/option_table.h"

namespace vernier {

/// Width from the value of COLUMNS (may be null), within 60 to 200; 100 when it says nothing.
size_t HelpWidth(const char* columns);

/// "--rtol, --rel-tol [OUTPUT:]X ...": flags and what they take.
std::string FormatSynopsis(const OptionRow& row);

/// The row's help as sentences, with its default, the options that it needs (of
/// OptionTable::NeedsOf) and, where it is so, that it does nothing yet.
std::string FormatRowHelp(const OptionRow& row, std::span<const std::string_view> needs = {});

/// The text of --help of a command with these options.
std::string FormatHelp(const OptionTable& table, const CommandSpec& command, size_t width);

/// The two lines that go to stderr with exit code 2.
std::string FormatUsageError(const CommandSpec& command, std::string_view error);

/// `text` broken at blanks so that no line is longer than `width`, every line after `indent`
/// blanks. Words longer than a line stay whole.
std::string WrapText(std::string_view text, size_t indent, size_t width);

}  // namespace vernier
