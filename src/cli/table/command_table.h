// The commands of the program: what main() runs, and what help, completion, the manual and
// docs/cli.md show.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "options/table/option_table.h"

namespace vernier {

struct Invocation;

/// Where `vernier --help` lists a command, in its order.
enum class CommandSection : uint8_t {
  kCompare,
  kCause,
  kModels,
  kTensorRt,
  kData,
  kInstallation,
  kInternal,  ///< what the program starts itself, and what builds and scripts use: listed nowhere
};

/// One command: everything that the program knows about it. Its file in commands/ defines it as
/// `constexpr CommandSpec kNameCommand`, and a line of commands/commands.h registers it.
struct CommandSpec {
  std::string_view name;             ///< the words after the program's: "run", "data concat"
  std::string_view older_name = {};  ///< understood too, but shown nowhere
  CommandSection section = CommandSection::kInternal;
  std::string_view operands = {};      ///< "[model_file] [runners ...] [options ...]"
  std::string_view summary = {};       ///< one line, without a capital or a full stop
  std::string_view about = {};         ///< one paragraph
  OptionTable (*options)() = nullptr;  ///< null: no option rows
  /// Takes the words after the name and returns the exit code.
  int (*run)(std::span<const std::string> words, const Invocation& invocation) = nullptr;

  /// "data" of "data concat"; the name itself where it is one word.
  std::string_view Group() const { return name.substr(0, name.find(' ')); }
  /// "vernier data concat".
  std::string FullName() const { return "vernier " + std::string(name); }
};

/// Every command for people, in the order of commands/commands.h.
std::span<const CommandSpec> CommandTable();

/// The command of that name, internal ones and older names included, or nullptr.
const CommandSpec* FindCommand(std::string_view name);

/// True for the first word of commands of two: "check", "data" and so on.
bool IsCommandGroup(std::string_view word);

/// The text of `vernier --help`: all commands by section, and examples.
std::string FormatProgramHelp();

/// The text of `vernier <group> --help` for a first word of commands of two.
std::string FormatGroupHelp(std::string_view group);

/// Which other command has the flag `word`: "vernier run has --blame."; if the operands of
/// `command` end in RUN OPTIONS, that the flag goes after --. Empty where none has it.
std::string ExplainElsewhere(const CommandSpec& command, std::string_view word);

/// Two lines about words that begin no command: the most similar commands, and where the list is.
std::string DescribeUnknownCommand(std::span<const std::string> words);

}  // namespace vernier
