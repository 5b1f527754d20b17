// The commands of the program. Each takes the words after its name and returns an exit code.
#pragma once

#include <span>
#include <string>

#include "cli/bind_run.h"

namespace vernier {

/// Runs a model under the named runners and compares what they compute.
int RunCommand(std::span<const std::string> words, const Invocation& invocation);

/// Lists every backend with what it found, or why it cannot be used. `--require NAME...` makes a
/// backend that cannot be used an error.
int BackendsCommand(std::span<const std::string> words);

/// Prints a completion script for the named shell.
int CompletionCommand(std::span<const std::string> words);

/// Prints the pages of docs/ that are made from the option rows: "reference", "polygraphy" or
/// "man".
int OptionDocsCommand(std::span<const std::string> words);

/// Serves one framework to a parent process. Not for people.
int WorkerCommand(std::span<const std::string> words);

}  // namespace vernier
