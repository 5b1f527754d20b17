// Help, completion, manual page and docs: each must hold every row, whole.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "cli/help/completion.h"
#include "cli/help/help_text.h"
#include "cli/help/man_page.h"
#include "cli/help/option_docs.h"
#include "options/table/command_options.h"
#include "options/table/groups.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

bool Holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(HelpText, ShowsEveryFlagWithinTheWidth) {
  const OptionTable table = RunOptionTable();
  for (const size_t width : {60u, 100u, 140u}) {
    const std::string help = FormatHelp(table, *FindCommand("run"), width);
    for (const OptionRow* row : table.rows()) {
      EXPECT_TRUE(Holds(help, "\n  " + FormatSynopsis(*row))) << row->dest;
    }
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) {
      // A synopsis is one unit and may be longer, and so may a single word.
      const bool is_one_unit = line.starts_with("  -") || !Holds(Trim(line), " ");
      EXPECT_TRUE(is_one_unit || line.size() <= width) << line;
    }
  }
}

TEST(HelpText, TakesItsWidthFromColumns) {
  EXPECT_EQ(HelpWidth(nullptr), 100u);
  EXPECT_EQ(HelpWidth("120"), 120u);
  EXPECT_EQ(HelpWidth("10"), 60u);
  EXPECT_EQ(HelpWidth("99999"), 200u);
  EXPECT_EQ(HelpWidth("wide"), 100u);
  EXPECT_EQ(HelpWidth("-5"), 100u);
}

TEST(HelpText, WrapsAtBlanks) {
  EXPECT_EQ(WrapText("aa bb cc", 2, 7), "  aa bb\n  cc\n");
  EXPECT_EQ(WrapText("a longer-than-a-line b", 0, 6), "a\nlonger-than-a-line\nb\n");
  EXPECT_EQ(WrapText("", 2, 10), "  \n");
}

TEST(HelpText, ReportsUsageErrorsInTwoLines) {
  EXPECT_EQ(FormatUsageError(*FindCommand("run"), "argument --seed: no"),
            "usage: vernier run [model_file] [runners ...] [options ...]\n"
            "vernier run: error: argument --seed: no\n");
}

TEST(HelpText, SaysDefaults) {
  const OptionTable table = RunOptionTable();
  EXPECT_TRUE(FormatRowHelp(*table.Find("--rtol")->row).ends_with(" Default: 1e-5."));
}

class Completion : public testing::TestWithParam<const char*> {};

TEST_P(Completion, NamesEveryFlagAndChoiceAndIsGoodShell) {
  const OptionTable table = RunOptionTable();
  const Shell shell = *ShellFromName(GetParam());
  const std::string script = FormatCompletion(shell, "vernier", CommandTable());
  for (const FlagEntry& entry : table.flags()) {
    const bool is_long = entry.flag.starts_with("--");
    const std::string_view bare = entry.flag.substr(is_long ? 2 : 1);
    EXPECT_TRUE(Holds(script, shell == Shell::kFish ? bare : entry.flag)) << entry.flag;
  }
  EXPECT_TRUE(Holds(script, "prefer obey none"));
  EXPECT_TRUE(Holds(script, "backends"));
  if (shell == Shell::kZsh) {  // a word that is there twice is not completed
    const size_t first = script.find("'inspect:");
    ASSERT_NE(first, std::string::npos);
    EXPECT_EQ(script.find("'inspect:", first + 1), std::string::npos);
    // Sourced it says what it completes; from fpath the first completion is done as well.
    EXPECT_TRUE(
        Holds(script, "== _vernier ]]; then\n  _vernier \"$@\"\nelse\n  compdef _vernier vernier"));
  }
  const std::string path = testing::TempDir() + "completion." + GetParam();
  std::ofstream(path) << script;
  const std::string which = std::string("command -v ") + GetParam() + " >/dev/null";
  if (std::system(which.c_str()) != 0) GTEST_SKIP() << "the text was checked; not by the shell";
  const std::string check = std::string(GetParam()) + " -n " + path;
  EXPECT_EQ(std::system(check.c_str()), 0) << path;
}

INSTANTIATE_TEST_SUITE_P(Shells, Completion, testing::Values("bash", "zsh", "fish"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Completion, KnowsNoOtherShell) { EXPECT_FALSE(ShellFromName("csh")); }

// Runs the script in bash as the shell would when a person presses the tab key.
std::string CompleteInBash(const std::string& words, int index) {
  const std::string path = testing::TempDir() + "completion_try.sh";
  std::ofstream(path) << FormatCompletion(Shell::kBash, "vernier", CommandTable()) << "COMP_WORDS=("
                      << words << ")\nCOMP_CWORD=" << index
                      << "\n_vernier\necho \"${COMPREPLY[*]}\"\n";
  FILE* pipe = popen(("bash " + path).c_str(), "r");
  if (pipe == nullptr) return "no bash";
  char buffer[4096] = {};
  const size_t size = fread(buffer, 1, sizeof(buffer) - 1, pipe);
  pclose(pipe);
  return std::string(buffer, size);
}

TEST(Completion, CompletesInBash) {
  EXPECT_EQ(CompleteInBash("vernier ru", 1), "run\n");
  EXPECT_EQ(CompleteInBash("vernier compare a.json --l2-th", 3), "--l2-threshold\n");
  EXPECT_EQ(CompleteInBash("vernier run --precision-constraints ob", 3), "obey\n");
  EXPECT_EQ(CompleteInBash("vernier run m.onnx --provid", 3), "--providers\n");
  EXPECT_EQ(CompleteInBash("vernier backends --provid", 2), "\n");
}

TEST(ManPage, HoldsEveryRowAndEscapesDashes) {
  const OptionTable table = RunOptionTable();
  const std::string page = FormatManPage(table, *FindCommand("run"), "vernier 1", "2026-01-01");
  EXPECT_TRUE(page.starts_with(".TH \"VERNIER\\-RUN\" \"1\" \"2026-01-01\""));
  EXPECT_TRUE(Holds(page, ".B \\-\\-rtol, \\-\\-rel\\-tol [OUTPUT:]X ...\n"));
  size_t entries = 0;
  constexpr std::string_view kEntry = "\n.TP\n.B ";
  for (size_t at = page.find(kEntry); at != std::string::npos; at = page.find(kEntry, at + 1)) {
    ++entries;
  }
  EXPECT_EQ(entries, table.rows().size());
}

TEST(OptionDocs, PutEveryPolygraphyFlagIntoOneClass) {
  const OptionTable table = RunOptionTable();
  const std::string text = FormatPolygraphyComparison(table);
  for (const OptionRow* row : table.rows()) {
    if (row->IsPositional()) continue;
    const std::string start = "| `" + std::string(row->flags[0]) + "`";
    const size_t at = text.find(start);
    ASSERT_NE(at, std::string::npos) << start;
    const std::string line = text.substr(at, text.find('\n', at) - at);
    if (row->origin == Origin::kPolygraphy) {
      EXPECT_TRUE(Holds(line, "| " + std::string(StandingName(row->standing)) + " |")) << line;
    }
  }
}

// A misspelt flag in OptionRow::needs would mean that nothing is needed.
TEST(OptionNeeds, NameFlagsThatSomeCommandHas) {
  std::set<std::string> flags = {std::string(kAnyRunner)};
  for (const CommandSpec& command : CommandTable()) {
    if (command.options == nullptr) continue;
    const OptionTable table = command.options();
    for (const FlagEntry& entry : table.flags()) flags.insert(std::string(entry.flag));
  }
  size_t needs = 0;
  for (const CommandSpec& command : CommandTable()) {
    if (command.options == nullptr) continue;
    const OptionTable table = command.options();
    for (const OptionRow* row : table.rows()) {
      for (const std::string_view need : row->needs) {
        const bool plain = need.empty() || need == kAnyRunner || need == kTwoSides;
        const std::string flag(plain ? kAnyRunner : need.substr(0, need.find(' ')));
        EXPECT_TRUE(flags.contains(flag)) << row->NameInErrors() << ": " << need;
        needs += need.empty() ? 0 : 1;
      }
    }
    for (const CommandGroup& group : table.groups()) {
      const std::string runner(group.runner.empty() ? kAnyRunner : group.runner);
      EXPECT_TRUE(flags.contains(runner)) << group.title;
    }
  }
  EXPECT_GT(needs, 30u);
}

// A row stands in a table once, where the first command has it; later commands name its flag.
TEST(OptionDocs, ReferenceHoldsEveryRowOfEveryCommandOnce) {
  std::set<std::string> synopses;
  for (const CommandSpec& command : CommandTable()) {
    if (command.options == nullptr) continue;
    const OptionTable table = command.options();
    for (const OptionRow* row : table.rows()) {
      synopses.insert(FormatSynopsis(*row) + FormatRowHelp(*row));
    }
  }
  const std::string text = FormatReference(CommandTable());
  size_t rows = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) rows += line.starts_with("| `") ? 1u : 0u;
  EXPECT_EQ(rows, synopses.size() + CommandTable().size());
  EXPECT_TRUE(Holds(text, "## `vernier compare`"));
  EXPECT_TRUE(Holds(text, "As for `vernier run`: `-h`"));
}

}  // namespace
}  // namespace vernier
