#include "cli/option_table.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

namespace vernier {
namespace {

std::string ArityLetter(const OptionRow& row) {
  switch (row.arity) {
    case Arity::kNone:
      return "0";
    case Arity::kOne:
      return "1";
    case Arity::kOptional:
      return row.wider_than_peer ? "1" : "?";
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
  const auto peers = row.choices.first(row.choices.size() - row.own_choices);
  const std::string choices = peers.empty() ? "-" : Join(peers, ',');
  return flags + " | " + std::string(row.dest) + " | " + ArityLetter(row) + " | " +
         ActionName(row) + " | " + TypeName(row.type) + " | " + choices;
}

TEST(RunOptionTable, HoldsThePeersFlagsInThePeersOrder) {
  std::vector<std::string> ours;
  const OptionTable table = RunOptionTable();
  for (const OptionRow* row : table.rows()) {
    if (row->origin == Origin::kPeer) ours.push_back(Describe(*row));
  }
  std::ifstream file(std::string(VERNIER_CLI_ORACLE_DIR) + "/peer_flags.txt");
  std::vector<std::string> peers;
  for (std::string line; std::getline(file, line);) peers.push_back(line);
  EXPECT_EQ(ours, peers);
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
    const bool is_ready = row->standing != Standing::kLater;
    const bool is_peers = row->origin == Origin::kPeer;
    EXPECT_TRUE(is_peers || !is_ready || row->standing == Standing::kSame) << name;
    const bool says_so = row->note.find("without a value") != std::string_view::npos;
    EXPECT_EQ(row->wider_than_peer, says_so) << name;
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

TEST(RunOptionTable, ExcludesOnlyDestsThatExist) {
  const OptionTable table = RunOptionTable();
  for (const OptionRow* row : table.rows()) {
    for (const std::string_view dest : row->excludes) {
      EXPECT_TRUE(dest.empty() || table.FindDest(dest) != nullptr) << dest;
    }
  }
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
