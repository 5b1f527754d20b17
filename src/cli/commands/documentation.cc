// What is generated from the option rows: completion scripts, the man page, pages of docs/.
#include <cstdio>
#include <optional>

#include "cli/commands/commands.h"
#include "cli/completion.h"
#include "cli/help_text.h"
#include "cli/man_page.h"
#include "cli/option_docs.h"
#include "cli/version.h"

namespace vernier {

int CompletionCommand(std::span<const std::string> words) {
  const std::optional<Shell> shell = words.size() == 1 ? ShellFromName(words[0]) : std::nullopt;
  if (!shell) {
    std::fputs("usage: vernier completion bash|zsh|fish\n", stderr);
    return 2;
  }
  const OptionTable table = RunOptionTable();
  const CommandEntry commands[] = {
      {"run", "run a model under several runners and compare their outputs", &table},
      {"backends", "list the frameworks that were found"},
      {"completion", "print a completion script"},
  };
  std::fputs(FormatCompletion(*shell, "vernier", commands).c_str(), stdout);
  return 0;
}

int OptionDocsCommand(std::span<const std::string> words) {
  const OptionTable table = RunOptionTable();
  const HelpSubject subject = RunHelpSubject("vernier run");
  const std::string page = words.size() == 1 ? words[0] : "";
  std::string text;
  if (page == "reference") text = FormatOptionReference(table, subject);
  if (page == "polygraphy") text = FormatPeerComparison(table);
  if (page == "man") text = FormatManPage(table, subject, kVersion, "");
  if (text.empty()) {
    std::fputs("usage: vernier option-docs reference|polygraphy|man\n", stderr);
    return 2;
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace vernier
