#include "options/table/option_table.h"
#include "options/table/command_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "cli/table/command_table.h"
#include "options/table/groups.h"

namespace vernier {
namespace {

std::string ArityLetter(const OptionRow& row) {
  switch (row.arity) {
    case Arity::kNone:
      return "0";
    case Arity::kOne:
      return "1";
    case Arity::kOptional:
      return row.wider_than_polygraphy ? "1" : "?";
    case Arity::kStar:
      return "*";
    case Arity::kPlus:
      return "+";
  }
  return "";
}

std::string ActionName(const OptionRow& row) {
  switch (row.action) {
    case OptionAction::kStore:
      return row.turns_off ? "store_false" : "store";
    case OptionAction::kAppend:
      return "append";
    case OptionAction::kCount:
      return "count";
    case OptionAction::kRunner:
      return "runner";
    case OptionAction::kHelp:
      return "help";
  }
  return "";
}

std::string Join(std::span<const std::string_view> words, char between) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

std::string TypeName(ValueType type) {
  switch (type) {
    case ValueType::kString:
      return "string";
    case ValueType::kInt:
      return "int";
    case ValueType::kFloat:
      return "float";
  }
  return "";
}

/// A line of peer_flags.txt.
std::string Describe(const OptionRow& row) {
  const std::string flags = row.IsPositional() ? "positional" : Join(row.AllFlags(), ' ');
  const auto polygraphy = row.choices.first(row.choices.size() - row.own_choices);
  const std::string choices = polygraphy.empty() ? "-" : Join(polygraphy, ',');
  return flags + " | " + std::string(row.dest) + " | " + ArityLetter(row) + " | " +
         ActionName(row) + " | " + TypeName(row.type) + " | " + choices;
}

TEST(RunOptionTable, HoldsPolygraphyFlagsInPolygraphyOrder) {
  std::vector<std::string> ours;
  const OptionTable table = RunOptionTable();
  for (const OptionRow* row : table.rows()) {
    if (row->origin == Origin::kPolygraphy) ours.push_back(Describe(*row));
  }
  std::ifstream file(std::string(VERNIER_CLI_ORACLE_DIR) + "/peer_flags.txt");
  std::vector<std::string> polygraphy;
  for (std::string line; std::getline(file, line);) polygraphy.push_back(line);
  EXPECT_EQ(ours, polygraphy);
}

TEST(RunOptionTable, NamesEveryFlagOnce) {
  std::set<std::string_view> seen;
  const OptionTable table = RunOptionTable();
  for (const FlagEntry& entry : table.flags()) {
    EXPECT_TRUE(seen.insert(entry.flag).second) << entry.flag;
    EXPECT_EQ(table.Find(entry.flag)->row, entry.row);
  }
  EXPECT_EQ(table.Find("--no-such-flag"), nullptr);
}

TEST(RunOptionTable, HasHelpAndAMetavarForEveryRow) {
  const OptionTable table = RunOptionTable();
  for (const OptionRow* row : table.rows()) {
    const std::string name = row->NameInErrors();
    EXPECT_FALSE(row->dest.empty()) << name;
    ASSERT_FALSE(row->help.empty()) << name;
    EXPECT_EQ(row->help.back(), '.') << name;
    EXPECT_EQ(row->metavar.empty(), row->arity == Arity::kNone) << name;
    for (const std::string_view flag : row->AllFlags()) EXPECT_EQ(flag.front(), '-') << flag;
  }
}

TEST(RunOptionTable, ExplainsEveryFlagThatIsNotTheSame) {
  const OptionTable table = RunOptionTable();
  for (const OptionRow* row : table.rows()) {
    const std::string name = row->NameInErrors();
    EXPECT_TRUE(row->standing == Standing::kSame || !row->note.empty()) << name;
    const bool is_polygraphy = row->origin == Origin::kPolygraphy;
    EXPECT_TRUE(is_polygraphy || row->standing == Standing::kSame) << name;
    const bool says_so = row->note.find("without a value") != std::string_view::npos;
    EXPECT_EQ(row->wider_than_polygraphy, says_so) << name;
  }
}

TEST(RunOptionTable, SharesADestOnlyBetweenRowsOfOneKind) {
  const OptionTable table = RunOptionTable();
  for (const OptionRow* row : table.rows()) {
    const OptionRow* first = table.FindDest(row->dest);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(first->type, row->type) << row->dest;
    EXPECT_EQ(first->action, row->action) << row->dest;
  }
}

// Does it set anything, or need it not to?
bool MeansSomething(const OptionRow& row) {
  const bool acts = row.action == OptionAction::kHelp || row.action == OptionAction::kRunner;
  const bool idle = row.standing == Standing::kRefused;
  return row.sets.Means() || acts || idle;
}

// A flag that sets nothing would be taken and ignored.
TEST(RunOptionTable, EveryOptionMeansSomething) {
  const OptionTable table = RunOptionTable();
  for (const OptionRow* row : table.rows()) {
    EXPECT_TRUE(MeansSomething(*row)) << row->NameInErrors();
  }
}

// A script that judges by itself looks at no threshold. Pictures, which need nothing, are drawn.
TEST(RunOptionTable, ThresholdsHaveNoEffectBesideAScriptThatJudges) {
  for (const OptionGroup& group :
       {CompareSimpleGroup(), CompareIndicesGroup(), CompareMetricsGroup(), CompareLogitsGroup()}) {
    for (const OptionRow& row : group.rows) {
      if (row.needs[0].empty()) continue;
      EXPECT_EQ(row.idle_beside, kOwnJudge) << row.NameInErrors();
    }
  }
}

TEST(RunOptionTable, ExcludesOnlyDestsThatExist) {
  const OptionTable table = RunOptionTable();
  for (const OptionRow* row : table.rows()) {
    for (const std::string_view dest : row->excludes) {
      EXPECT_TRUE(dest.empty() || table.FindDest(dest) != nullptr) << dest;
    }
  }
}

TEST(Only, KeepsTheGroupsOrderAndReportsWhatTheGroupLacks) {
  constexpr OptionRow kFew[] = {
      {.dest = "a", .help = ""}, {.dest = "b", .help = ""}, {.dest = "c", .help = ""}};
  const OptionGroup group{"Few", "few", kFew};
  const CommandGroup some = Only(group, {"c", "a", "typo"});
  ASSERT_EQ(some.rows.size(), 2u);
  EXPECT_EQ(some.rows[0]->dest, "a");
  EXPECT_EQ(some.rows[1]->dest, "c");
  EXPECT_EQ(OptionTable({some}).unknown(), std::vector<std::string_view>{"typo"});
}

TEST(OptionTable, PutsNeighboursWithOneTitleUnderOneHeading) {
  constexpr OptionRow kFirst[] = {{.dest = "a", .help = ""}};
  constexpr OptionRow kSecond[] = {{.dest = "b", .help = ""}};
  const OptionTable table(
      {OptionGroup{"Same", "both", kFirst}, OptionGroup{"Same", "both", kSecond}});
  ASSERT_EQ(table.groups().size(), 1u);
  EXPECT_EQ(table.groups()[0].rows.size(), 2u);
}

// A name that no group has would silently leave an option out of a command.
// A new command fills its plan by its rows.
TEST(EveryCommand, HasRowsThatBindThemselves) {
  for (const CommandSpec& command : CommandTable()) {
    if (command.options == nullptr) continue;
    const OptionTable table = command.options();
    for (const OptionRow* row : table.rows()) {
      EXPECT_TRUE(MeansSomething(*row)) << command.name << " " << row->NameInErrors();
    }
  }
}

TEST(EveryCommand, NamesOnlyOptionsThatExistAndEachFlagOnce) {
  for (const CommandSpec& command : CommandTable()) {
    if (command.options == nullptr) continue;
    const OptionTable table = command.options();
    for (const std::string_view dest : table.unknown())
      ADD_FAILURE() << command.name << ": " << dest;
    std::set<std::string_view> seen;
    for (const FlagEntry& entry : table.flags()) {
      EXPECT_TRUE(seen.insert(entry.flag).second) << command.name << ": " << entry.flag;
    }
  }
}

TEST(EveryCommand, SaysOfEachNamedFileWhatIsDoneWithIt) {
  for (const CommandSpec& command : CommandTable()) {
    if (command.options == nullptr) continue;
    const OptionTable table = command.options();
    for (const OptionRow* row : table.rows()) {
      bool named = false;
      for (const std::string_view kind : {"FILE", "PATH", "DIR"}) {
        named = named || row->metavar.find(kind) != std::string_view::npos;
      }
      const bool of_a_level = row->dest == "verbosity";  // [PATH:]LEVEL
      if (!named || of_a_level) continue;
      EXPECT_NE(row->Files(), FileUse::kNone) << command.name << ": " << row->NameInErrors();
    }
  }
}

TEST(EveryCommand, IsListedInASectionAndFoundByItsName) {
  std::set<std::string_view> names;
  for (const CommandSpec& command : CommandTable()) {
    EXPECT_TRUE(names.insert(command.name).second) << command.name;
    EXPECT_EQ(FindCommand(command.name)->run, command.run) << command.name;
    EXPECT_NE(FormatProgramHelp().find("  " + std::string(command.name) + " "), std::string::npos);
    EXPECT_FALSE(command.operands.empty()) << command.name;
    EXPECT_FALSE(command.about.empty()) << command.name;
    ASSERT_FALSE(command.summary.empty()) << command.name;
    EXPECT_NE(command.summary.back(), '.') << command.name;
  }
  EXPECT_EQ(FindCommand("data to-input")->name, "data merge");
  EXPECT_NE(FindCommand("worker"), nullptr);
  EXPECT_EQ(FindCommand(""), nullptr);
}

TEST(UnknownCommand, AnswersInTwoLinesWithTheNearestNames) {
  const auto describe = [](std::vector<std::string> words) {
    return DescribeUnknownCommand(words);
  };
  EXPECT_EQ(describe({"comprae", "a.json"}),
            "vernier: there is no command 'comprae'; did you mean 'compare'?\n"
            "`vernier --help` lists the commands.\n");
  EXPECT_TRUE(describe({"lint", "m.onnx"}).find("did you mean 'check lint'?") != std::string::npos);
  EXPECT_TRUE(describe({"m.onnx"}).find("did you mean 'run m.onnx'?") != std::string::npos);
  EXPECT_EQ(describe({"zzz"}),
            "vernier: there is no command 'zzz'\n`vernier --help` lists the commands.\n");
  EXPECT_EQ(describe({"debug", "reduec"}),
            "vernier: there is no command 'debug reduec'; did you mean 'debug reduce'?\n"
            "`vernier debug` has build, precision, reduce, repeat; `vernier debug --help` explains"
            " them.\n");
}

TEST(LooksLikeNegativeNumber, FollowsArgparse) {
  for (const char* word : {"-5", "-.5", "-0.25", "-5\n"}) {
    EXPECT_TRUE(LooksLikeNegativeNumber(word)) << word;
  }
  for (const char* word : {"", "-", "5", "-5.", "-1e5", "-0x1", "--5", "-."}) {
    EXPECT_FALSE(LooksLikeNegativeNumber(word)) << word;
  }
}

}  // namespace
}  // namespace vernier
