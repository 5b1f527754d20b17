// The commands of the program as help, completion, the manual and docs/cli.md show them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "cli/help_text.h"
#include "cli/option_table.h"

namespace vernier {

struct CommandEntry {
  std::string_view name;               ///< the words after the program's: "run", "data concat"
  HelpSubject subject;                 ///< of "vernier <name>"
  OptionTable (*options)() = nullptr;  ///< null: no option rows

  /// "data" of "data concat"; the name itself where it is one word.
  std::string_view Group() const { return name.substr(0, name.find(' ')); }
};

/// Every command for people, in the order of the help.
std::span<const CommandEntry> CommandTable();

/// The entry of that name, or nullptr.
const CommandEntry* FindCommand(std::string_view name);

/// The text of `vernier --help`, or of `vernier <group> --help` for commands of two words.
std::string FormatCommandList(std::string_view group);

}  // namespace vernier
