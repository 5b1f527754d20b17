// The commands of the program. Each takes the words after its name and returns an exit code.
#pragma once

#include <span>
#include <string>

#include "cli/bind_run.h"

namespace vernier {

using Command = int(std::span<const std::string> words, const Invocation& invocation);

/// Runs a model under the named runners and compares what they compute.
Command RunCommand;

/// Compares saved files.
Command CompareCommand;

/// Lists every backend with what it found, or why it cannot be used. `--require NAME...` makes a
/// backend that cannot be used an error.
Command BackendsCommand;

/// Prints a completion script for the named shell.
Command CompletionCommand;

/// Prints the pages of docs/ that are made from the option rows, and their list.
Command OptionDocsCommand;

/// Serves one framework to a parent process. Not for people.
Command WorkerCommand;

}  // namespace vernier
