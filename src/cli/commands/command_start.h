// How every command with options begins and ends: parsing, help, usage errors, the log.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/help/help_text.h"
#include "cli/table/command_table.h"
#include "options/bind/bind_run.h"
#include "options/words/arg_parser.h"
#include "report/text/console_log.h"

namespace vernier {

/// A command line that was understood; or, in `exit_code`, how the program ends at once.
struct CommandStart {
  std::optional<int> exit_code;
  ParsedArgs args;
  std::unique_ptr<ConsoleLog> log;
};

/// Parses the words after the command's name and opens its log. Prints help, usage errors and
/// unknown options itself. argparse gives a positional the words of one place only; with `surplus`,
/// words elsewhere that are no options come back there instead of being refused.
CommandStart StartCommand(const CommandSpec& command, std::span<const std::string> words,
                          const Invocation& invocation,
                          std::vector<std::string>* surplus = nullptr);

/// How a command that did `work` ends: a critical line for an error, the exit code of the table in
/// docs/exit-codes.md, and the log file closed.
int EndCommand(const Status& work, const Invocation& invocation, ConsoleLog& log);

/// The same of a command that has reported what went wrong, and ends with `code`.
int CloseLog(ConsoleLog& log, int code, const Invocation& invocation);

}  // namespace vernier
