// What is generated from the option rows: completion scripts, manual pages, pages of docs/.
#include <cstdio>
#include <optional>

#include "cli/command_table.h"
#include "cli/commands/commands.h"
#include "cli/completion.h"
#include "cli/man_page.h"
#include "cli/option_docs.h"
#include "core/version.h"

namespace vernier {
namespace {

// The pages that scripts/update-docs.sh writes, one a line: a name and the words that print it.
std::string ListPages() {
  std::string text = "cli.md reference\ncoming-from-polygraphy.md polygraphy\n";
  for (const CommandSpec& command : CommandTable()) {
    if (command.options == nullptr) continue;
    text += "man/" + ManPageFile(command) + " man " + std::string(command.name) + "\n";
  }
  return text;
}

std::string MakePage(std::span<const std::string> words) {
  const std::string kind = words.empty() ? "" : words[0];
  if (words.size() == 1 && kind == "list") return ListPages();
  if (words.size() == 1 && kind == "reference") return FormatReference(CommandTable());
  if (words.size() == 1 && kind == "polygraphy") return FormatPeerComparison(RunOptionTable());
  if (words.size() < 2 || kind != "man") return "";
  const std::string name = words[1] + (words.size() > 2 ? " " + words[2] : "");
  const CommandSpec* command = FindCommand(name);
  if (command == nullptr || command->options == nullptr) return "";
  return FormatManPage(command->options(), *command, kVersion, "");
}

int CompletionCommand(std::span<const std::string> words, const Invocation&) {
  const std::optional<Shell> shell = words.size() == 1 ? ShellFromName(words[0]) : std::nullopt;
  if (!shell) {
    std::fputs("usage: vernier completion bash|zsh|fish\n", stderr);
    return 2;
  }
  std::fputs(FormatCompletion(*shell, "vernier", CommandTable()).c_str(), stdout);
  return 0;
}

int OptionDocsCommand(std::span<const std::string> words, const Invocation&) {
  const std::string text = MakePage(words);
  if (text.empty()) {
    std::fputs("usage: vernier option-docs list|reference|polygraphy|man COMMAND\n", stderr);
    return 2;
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

constexpr CommandSpec kCompletionCommand = {
    .name = "completion",
    .section = CommandSection::kInstallation,
    .operands = "bash|zsh|fish",
    .summary = "print a completion script for a shell",
    .about = "Print a completion script for bash, zsh or fish.",
    .run = CompletionCommand,
};

constexpr CommandSpec kOptionDocsCommand = {.name = "option-docs", .run = OptionDocsCommand};

}  // namespace vernier
