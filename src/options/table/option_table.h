// One row per flag. Parser, help, man page, completion, docs and the report's "options used" are
// all made from these rows, and each says which field of a plan it sets (option_binding.h), so a
// flag is added or changed in exactly one place.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "options/table/option_binding.h"

namespace vernier {

/// How many words a flag takes, as argparse's nargs: 0, one, "?", "*", "+".
enum class Arity : uint8_t { kNone, kOne, kOptional, kStar, kPlus };

/// What repeating a flag does.
enum class OptionAction : uint8_t {
  kStore,   ///< the last occurrence wins, a list included
  kAppend,  ///< every occurrence is kept
  kCount,   ///< occurrences are counted
  kRunner,  ///< every occurrence adds one runner, in the order of the command line
  kHelp,    ///< print the help and end
};

enum class ValueType : uint8_t { kString, kInt, kFloat };

/// Whose flag it is. Abbreviations are resolved among kPolygraphy first.
enum class Origin : uint8_t { kPolygraphy, kOurs };

/// How a flag of Polygraphy behaves here; the row's note says more. Ours are kSame.
enum class Standing : uint8_t { kSame, kBetter, kRefused };

/// In OptionRow::needs: a runner, whichever.
inline constexpr std::string_view kAnyRunner = "a runner";
/// In OptionRow::needs: two runners, or saved outputs, of which one file may hold several sides.
inline constexpr std::string_view kTwoSides = "two sides to compare";

/// Whether Polygraphy's Python API can say an option: by default what Polygraphy's flags say.
enum class InApi : uint8_t { kAsOrigin, kYes, kNo };

/// What the Python package `vernier` makes of an option of `run`: a keyword of vernier.run,
/// something that it has a way of its own for, or nothing.
enum class InPackage : uint8_t {
  kKeyword,
  kOwnWay,
  kNot,
  kOfBlame,  ///< of `run` nothing; a keyword of vernier.blame
};

/// One flag with its aliases, or the positional argument when `flags` is empty.
struct OptionRow {
  std::string_view flags[3] = {};  ///< primary first, then aliases in Polygraphy's order
  std::string_view dest = {};      ///< key of the parsed value; rows may share one
  Binding sets = {};               ///< what it means: the field of a plan that it sets
  FileUse files = FileUse::kNone;  ///< where `sets` does not say so: see Files()
  InApi in_api = InApi::kAsOrigin;
  InPackage in_package = InPackage::kKeyword;
  std::string_view elsewhere = {};  ///< what to use in Python where calls do not take it
  Arity arity = Arity::kNone;
  OptionAction action = OptionAction::kStore;
  ValueType type = ValueType::kString;
  std::span<const std::string_view> choices = {};
  size_t own_choices = 0;  ///< so many of the last ones Polygraphy does not have
  /// Can a word that is not a choice be a value, too? Null: none is.
  bool (*accepts)(std::string_view word) = nullptr;
  std::string_view constant = {};  ///< value of a bare kOptional; the kind of a kRunner
  bool turns_off = false;          ///< a switch whose presence means "no"
  bool required = false;           ///< must be given; positionals of kOne and kPlus always must
  std::string_view fallback = {};  ///< the default, for people; empty when it goes without saying
  std::string_view metavar = {};
  std::string_view help = {};
  Origin origin = Origin::kPolygraphy;
  Standing standing = Standing::kSame;
  std::string_view note = {};          ///< for docs/coming-from-polygraphy.md
  bool wider_than_polygraphy = false;  ///< accepts every form of Polygraphy's, and more
  std::string_view excludes[4] = {};   ///< dests that must not be given beside this row
  /// Without one of these the row has no effect: a flag, "--flag VALUE", kAnyRunner or
  /// kTwoSides. What the command does not have does not count. See option_use.h.
  std::string_view needs[3] = {};
  bool only_selects = false;          ///< others do not need it: without it, all is taken
  std::string_view idle_beside = {};  ///< a flag beside which the row has no effect
  /// Has no abbreviations: those of older flags stay what they were.
  bool spelled_out = false;

  std::vector<std::string_view> AllFlags() const;
  bool IsPositional() const { return flags[0].empty(); }
  FileUse Files() const { return sets.files == FileUse::kNone ? files : sets.files; }
  /// "--rtol/--rel-tol", or the dest of a positional: how argparse names it in errors.
  std::string NameInErrors() const;
};

/// Rows printed under one heading.
struct OptionGroup {
  std::string_view title;
  std::string_view about;  ///< completes "Options for ..."; one line
  std::span<const OptionRow> rows;
  std::string_view runner = {};  ///< the flag of the runner that the rows are for: "--trt"

  bool Has(std::string_view dest) const;
};

/// The rows of one group that a command takes: all of them, or those that Only names.
struct CommandGroup {
  CommandGroup(const OptionGroup& group);  // NOLINT: whole groups are the rule

  std::string_view title;
  std::string_view about;
  std::vector<const OptionRow*> rows;
  std::string_view runner;                     ///< see OptionGroup
  std::vector<std::string_view> unknown = {};  ///< dests that Only named and the group lacks
};

/// The rows with these dests, in the group's order. A dest that the group lacks is a mistake in the
/// caller: it gets into `unknown`, which a test over all commands finds empty.
CommandGroup Only(const OptionGroup& group, std::initializer_list<std::string_view> dests);
/// The same of several groups; a dest is unknown where none of them has it.
std::vector<CommandGroup> Only(const std::vector<OptionGroup>& groups,
                               std::initializer_list<std::string_view> dests);

/// What a command's options are listed from: one group or several.
struct OptionSet {
  OptionSet(const OptionGroup& group) : groups{group} {}       // NOLINT: see CommandGroup
  OptionSet(CommandGroup group) : groups{std::move(group)} {}  // NOLINT
  OptionSet(std::vector<CommandGroup> several) : groups(std::move(several)) {}  // NOLINT
  OptionSet(const std::vector<OptionGroup>& several)                            // NOLINT
      : groups(several.begin(), several.end()) {}

  std::vector<CommandGroup> groups;
};

/// The groups of all sets, one set after the other.
std::vector<CommandGroup> Together(std::initializer_list<OptionSet> sets);

/// A flag name and the row that it belongs to.
struct FlagEntry {
  std::string_view flag;
  const OptionRow* row;
};

/// The options of one command, in Polygraphy's order of registration. Cheap to copy: the rows are
/// constants.
class OptionTable {
 public:
  /// A group without rows is left out; neighbours with the same title become one group.
  explicit OptionTable(std::vector<CommandGroup> groups);
  explicit OptionTable(std::initializer_list<OptionSet> sets) : OptionTable(Together(sets)) {}

  const std::vector<CommandGroup>& groups() const { return groups_; }
  const std::vector<const OptionRow*>& rows() const { return rows_; }
  const std::vector<const OptionRow*>& positionals() const { return positionals_; }
  /// Every flag name, aliases included, in registration order.
  const std::vector<FlagEntry>& flags() const { return flags_; }

  /// The entry with exactly this name ("--rel-tol"), or nullptr. Valid while the table lives.
  const FlagEntry* Find(std::string_view flag) const;
  /// The first row that writes this dest, or nullptr.
  const OptionRow* FindDest(std::string_view dest) const;
  /// The row that gives runners of this backend, and no others, an option with this key; or
  /// nullptr.
  const OptionRow* FindOfBackend(std::string_view backend, std::string_view key) const;
  /// What of OptionRow::needs this command has; empty: the row has its effect by itself.
  std::vector<std::string_view> NeedsOf(const OptionRow& row) const;
  /// The flag of the runner that the row is for, where this command has it; else empty.
  std::string_view RunnerOf(const OptionRow& row) const;
  /// Dests that Only did not find: mistakes in the command's list. See Only.
  const std::vector<std::string_view>& unknown() const { return unknown_; }
  /// True when a flag looks like a negative number ("-1"), which changes how "-5" is read.
  bool HasNegativeNumberFlags() const { return has_negative_number_flags_; }

 private:
  std::vector<CommandGroup> groups_;
  std::vector<const OptionRow*> rows_;
  std::vector<const OptionRow*> positionals_;
  std::vector<FlagEntry> flags_;
  std::vector<FlagEntry> sorted_;
  std::vector<std::string_view> unknown_;
  bool has_negative_number_flags_ = false;
};

/// argparse's test for "-5" and "-.5".
bool LooksLikeNegativeNumber(std::string_view word);

}  // namespace vernier
