#include "options/bind/describe_origin.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "session/run/run_session.h"
#include "util/text/shell_words.h"

namespace vernier {
namespace {

// A batch has the record of a run saved for itself, by a word that it does not show.
bool IsOfBatch(const GivenOption& given, std::span<const std::string> shown) {
  if (given.row->dest != "save_record" || given.values.empty()) return false;
  return std::ranges::none_of(
      shown, [&](const std::string& word) { return word.ends_with(given.values.back()); });
}

std::vector<SettingRecord> Settings(const ParsedArgs& args, const OptionTable& table,
                                    std::span<const std::string> shown) {
  std::vector<SettingRecord> settings;
  for (const GivenOption& given : args.given()) {
    if (IsOfBatch(given, shown)) continue;
    const std::string name =
        given.row->IsPositional() ? std::string(given.row->dest) : std::string(given.flag);
    settings.push_back({name, JoinForShell(given.values), true});
  }
  for (const OptionRow* row : table.rows()) {
    if (row->fallback.empty() || args.Has(row->dest)) continue;
    settings.push_back({std::string(row->flags[0]), std::string(row->fallback), false});
  }
  return settings;
}

}  // namespace

OriginRecord DescribeOrigin(const ParsedArgs& args, const OptionTable& table,
                            const Invocation& invocation) {
  OriginRecord origin = DescribeMachine(invocation.now);
  origin.words = invocation.words;
  origin.settings = Settings(args, table, invocation.words);
  return origin;
}

}  // namespace vernier
