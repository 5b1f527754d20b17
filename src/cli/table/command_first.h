// Logging options between a group of commands and the command: `surgeon -v extract ...`.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace vernier {

/// Whether there is a command of that name: "surgeon extract".
using IsCommand = std::function<bool(std::string_view name)>;

/// The words with such options moved after the command's name, in their order: Polygraphy's tools
/// take them in front of their sub-tools. Unchanged where no command of the group follows, or other
/// options stand there.
std::vector<std::string> CommandFirst(std::vector<std::string> words, const IsCommand& is_command);

}  // namespace vernier
