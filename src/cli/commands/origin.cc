#include "cli/commands/origin.h"

#include <string>
#include <vector>

#include "session/run_session.h"
#include "util/shell_words.h"

namespace vernier {
namespace {

std::vector<SettingRecord> Settings(const ParsedArgs& args, const OptionTable& table) {
  std::vector<SettingRecord> settings;
  for (const GivenOption& given : args.given()) {
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
  origin.settings = Settings(args, table);
  return origin;
}

}  // namespace vernier
