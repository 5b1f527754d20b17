// What is generated from the option rows: completion scripts, manual pages, pages of docs/, what
// Python knows of TensorRT's options.
#include <cstdio>
#include <optional>
#include <string>

#include "cli/help/completion.h"
#include "cli/help/man_page.h"
#include "cli/help/option_docs.h"
#include "cli/table/command_table.h"
#include "cli/table/commands.h"
#include "core/version.h"
#include "options/rows/tensorrt_rows.h"
#include "options/table/command_options.h"
#include "util/files/atomic_file.h"

namespace vernier {
namespace {

// The files that scripts/update-docs.sh writes, one a line: a path and the word that prints it.
constexpr std::string_view kPages =
    "docs/cli.md reference\n"
    "docs/coming-from-polygraphy.md polygraphy\n"
    "libexec/vernier/tensorrt_options.json tensorrt\n";

// Commands that have a page in docs/commands and a manual page, one a line.
std::string ListDocumented() {
  std::string text;
  for (const CommandSpec& command : CommandTable()) {
    if (command.options != nullptr) text += std::string(command.name) + "\n";
  }
  return text;
}

// The manual: a page for each command, into a folder that is made where it is missing.
Status WriteManual(const std::string& folder) {
  VERNIER_TRY(CreateDirectories(folder));
  for (const CommandSpec& command : CommandTable()) {
    if (command.options == nullptr) continue;
    VERNIER_TRY(WriteFileAtomically(folder + "/" + ManPageFile(command),
                                    FormatManPage(command.options(), command, kVersion, ""),
                                    Durability::kRenamed));
  }
  return {};
}

std::string MakePage(std::span<const std::string> words) {
  if (words.size() != 1) return "";
  if (words[0] == "list") return std::string(kPages);
  if (words[0] == "commands") return ListDocumented();
  if (words[0] == "reference") return FormatReference(CommandTable());
  if (words[0] == "polygraphy") return FormatPolygraphyComparison(RunOptionTable());
  if (words[0] == "tensorrt") return TensorRtOptionsJson();
  return "";
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
  if (words.size() == 2 && words[0] == "man") {
    const Status written = WriteManual(words[1]);
    if (!written.ok()) std::fprintf(stderr, "[!] %s\n", written.message().c_str());
    return written.ok() ? 0 : 7;
  }
  const std::string text = MakePage(words);
  if (text.empty()) {
    std::fputs(
        "usage: vernier option-docs list|commands|reference|polygraphy|tensorrt|man FOLDER\n",
        stderr);
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
