#include "options/bind/describe_origin.h"

#include <string>
#include <vector>

#include "session/run/run_session.h"
#include "util/text/shell_words.h"

namespace vernier {
namespace {

std::vector<SettingRecord> Settings(const ParsedArgs& args, const OptionTable& table,
                                    bool record_is_batchs) {
  std::vector<SettingRecord> settings;
  for (const GivenOption& given : args.given()) {
    if (record_is_batchs && given.row->dest == "save_record") continue;
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
  origin.settings = Settings(args, table, invocation.record_is_batchs);
  return origin;
}

}  // namespace vernier
