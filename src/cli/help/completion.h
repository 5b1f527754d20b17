// Shell completion scripts made from the option rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/table/command_table.h"

namespace vernier {

enum class Shell : uint8_t { kBash, kZsh, kFish };

/// "bash", "zsh", "fish"; nullopt for anything else.
std::optional<Shell> ShellFromName(std::string_view name);

/// A script that completes `program`'s commands, their flags, the choices of flags that have some,
/// and file names elsewhere.
std::string FormatCompletion(Shell shell, std::string_view program,
                             std::span<const CommandSpec> commands);

}  // namespace vernier
