// Shell completion scripts made from the option rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/option_table.h"

namespace vernier {

enum class Shell : uint8_t { kBash, kZsh, kFish };

/// "bash", "zsh", "fish"; nullopt for anything else.
std::optional<Shell> ShellFromName(std::string_view name);

/// One sub-command; `table` may be null when it has no options of its own.
struct CommandEntry {
  std::string_view name;
  std::string_view about;
  const OptionTable* table = nullptr;
};

/// A script that completes `program`'s commands, their flags, the choices of flags that have some,
/// and file names elsewhere.
std::string FormatCompletion(Shell shell, std::string_view program,
                             std::span<const CommandEntry> commands);

}  // namespace vernier
