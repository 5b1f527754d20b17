// A command line as text that a shell reads back.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/bind_run.h"

namespace vernier {

/// The word, quoted where a POSIX shell would see more in it than letters. NUL cannot occur.
std::string QuoteForShell(std::string_view word);

/// The words with blanks between them, each quoted where it needs to be.
std::string JoinForShell(std::span<const std::string> words);

/// "cd DIR && vernier run ...": what does the same again from anywhere. --gen-script and its value
/// are left out.
std::string ReproCommand(const Invocation& invocation);

/// A POSIX shell script that does what the command line does.
std::string WriteShellScript(const Invocation& invocation);

}  // namespace vernier
