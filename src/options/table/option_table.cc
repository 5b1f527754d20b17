#include "options/table/option_table.h"

#include <algorithm>
#include <iterator>

namespace vernier {
bool OptionGroup::Has(std::string_view dest) const {
  return std::ranges::any_of(rows, [&](const OptionRow& row) { return row.dest == dest; });
}

std::vector<std::string_view> OptionRow::AllFlags() const {
  std::vector<std::string_view> all;
  for (const std::string_view flag : flags) {
    if (!flag.empty()) all.push_back(flag);
  }
  return all;
}

std::string OptionRow::NameInErrors() const {
  if (IsPositional()) return std::string(metavar.empty() ? dest : metavar);
  std::string name;
  for (const std::string_view flag : AllFlags()) {
    if (!name.empty()) name += '/';
    name += flag;
  }
  return name;
}

bool LooksLikeNegativeNumber(std::string_view word) {
  // The regular expressions ^-\d+$ and ^-\d*\.\d+$, whose $ also accepts a final newline.
  if (word.empty() || word.front() != '-') return false;
  word.remove_prefix(1);
  if (!word.empty() && word.back() == '\n') word.remove_suffix(1);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const size_t point = word.find('.');
  const std::string_view whole = word.substr(0, point);
  if (!std::all_of(whole.begin(), whole.end(), is_digit)) return false;
  if (point == std::string_view::npos) return !whole.empty();
  const std::string_view fraction = word.substr(point + 1);
  return !fraction.empty() && std::all_of(fraction.begin(), fraction.end(), is_digit);
}

CommandGroup::CommandGroup(const OptionGroup& group)
    : title(group.title), about(group.about), runner(group.runner) {
  for (const OptionRow& row : group.rows) rows.push_back(&row);
}

CommandGroup Only(const OptionGroup& group, std::initializer_list<std::string_view> dests) {
  CommandGroup some(group);
  std::erase_if(some.rows, [&](const OptionRow* row) {
    return std::find(dests.begin(), dests.end(), row->dest) == dests.end();
  });
  std::copy_if(dests.begin(), dests.end(), std::back_inserter(some.unknown),
               [&](std::string_view dest) { return !group.Has(dest); });
  return some;
}

std::vector<CommandGroup> Only(const std::vector<OptionGroup>& groups,
                               std::initializer_list<std::string_view> dests) {
  std::vector<CommandGroup> some;
  for (const OptionGroup& group : groups) {
    some.push_back(Only(group, dests));
    std::erase_if(some.back().unknown, [&](std::string_view dest) {
      return std::any_of(groups.begin(), groups.end(),
                         [&](const OptionGroup& other) { return other.Has(dest); });
    });
  }
  return some;
}

std::vector<CommandGroup> Together(std::initializer_list<OptionSet> sets) {
  std::vector<CommandGroup> groups;
  for (const OptionSet& set : sets) {
    groups.insert(groups.end(), set.groups.begin(), set.groups.end());
  }
  return groups;
}

OptionTable::OptionTable(std::vector<CommandGroup> groups) {
  for (CommandGroup& group : groups) {
    unknown_.insert(unknown_.end(), group.unknown.begin(), group.unknown.end());
    if (group.rows.empty()) continue;
    if (groups_.empty() || groups_.back().title != group.title) {
      groups_.push_back(std::move(group));
    } else {
      std::vector<const OptionRow*>& rows = groups_.back().rows;
      rows.insert(rows.end(), group.rows.begin(), group.rows.end());
    }
  }
  for (const CommandGroup& group : groups_) {
    for (const OptionRow* row : group.rows) {
      rows_.push_back(row);
      if (row->IsPositional()) positionals_.push_back(row);
      for (const std::string_view flag : row->AllFlags()) {
        flags_.push_back({flag, row});
        has_negative_number_flags_ = has_negative_number_flags_ || LooksLikeNegativeNumber(flag);
      }
    }
  }
  sorted_ = flags_;
  std::sort(sorted_.begin(), sorted_.end(),
            [](const FlagEntry& a, const FlagEntry& b) { return a.flag < b.flag; });
}

const FlagEntry* OptionTable::Find(std::string_view flag) const {
  const auto at =
      std::lower_bound(sorted_.begin(), sorted_.end(), flag,
                       [](const FlagEntry& entry, std::string_view f) { return entry.flag < f; });
  return at != sorted_.end() && at->flag == flag ? &*at : nullptr;
}

const OptionRow* OptionTable::FindDest(std::string_view dest) const {
  const auto at = std::find_if(rows_.begin(), rows_.end(),
                               [&](const OptionRow* row) { return row->dest == dest; });
  return at != rows_.end() ? *at : nullptr;
}

const OptionRow* OptionTable::FindOfBackend(std::string_view backend, std::string_view key) const {
  const auto at = std::find_if(rows_.begin(), rows_.end(), [&](const OptionRow* row) {
    return row->sets.backend == backend && row->sets.key == key;
  });
  return at != rows_.end() ? *at : nullptr;
}

namespace {

bool IsNeeded(const FlagEntry* entry) { return entry != nullptr && !entry->row->only_selects; }

}  // namespace

std::vector<std::string_view> OptionTable::NeedsOf(const OptionRow& row) const {
  std::vector<std::string_view> needs;
  for (const std::string_view need : row.needs) {
    if (need.empty()) continue;
    // What is compared with itself, as in check consistency, has no sides.
    const bool runners = FindDest("runners") != nullptr;
    const bool sides = runners && FindDest("compare") != nullptr;
    // Some commands have a runner that is not named; of others, saved outputs may stand for it.
    const bool known = need == kAnyRunner  ? runners && FindDest("load_outputs_paths") != nullptr
                       : need == kTwoSides ? sides
                                           : IsNeeded(Find(need.substr(0, need.find(' '))));
    if (known) needs.push_back(need);
  }
  return needs;
}

std::string_view OptionTable::RunnerOf(const OptionRow& row) const {
  for (const CommandGroup& group : groups_) {
    const bool here = std::find(group.rows.begin(), group.rows.end(), &row) != group.rows.end();
    if (here && !group.runner.empty() && Find(group.runner) != nullptr) return group.runner;
  }
  return {};
}

}  // namespace vernier
