#include <algorithm>

#include "options/bind/bind_run.h"
#include "options/bind/bind_shard.h"
#include "options/bind/default_files.h"
#include "util/log/workflow_commands.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

struct LevelName {
  std::string_view name;
  Severity severity;
};

constexpr LevelName kLevels[] = {
    {"ultra_verbose", Severity::kUltraVerbose},
    {"super_verbose", Severity::kSuperVerbose},
    {"extra_verbose", Severity::kExtraVerbose},
    {"verbose", Severity::kVerbose},
    {"info", Severity::kInfo},
    {"start", Severity::kStart},
    {"finish", Severity::kFinish},
    {"warning", Severity::kWarning},
    {"error", Severity::kError},
    {"critical", Severity::kCritical},
};

Result<Severity> LevelFromName(std::string_view name) {
  const std::string lower = ToLower(name);
  std::string accepted;
  for (const LevelName& level : kLevels) {
    if (level.name == lower) return level.severity;
    accepted += (accepted.empty() ? "" : ", ") + std::string(level.name);
  }
  return InvalidArgument("--verbosity: expected [PATH:]LEVEL with a level of " + accepted +
                         ", got '" + std::string(name) + "'");
}

// `--verbosity [PATH:]LEVEL ...`
Status AddNamedLevels(const std::vector<std::string>& words, ConsoleLogOptions& options) {
  for (const std::string& word : words) {
    const size_t colon = word.rfind(':');
    const bool keyed = colon != std::string::npos;
    VERNIER_ASSIGN_OR_RETURN(const Severity level,
                             LevelFromName(keyed ? word.substr(colon + 1) : word));
    std::string area = keyed ? word.substr(0, colon) : "";
    while (!area.empty() && area.back() == '/') area.pop_back();
    if (area.empty()) {
      options.threshold = level;
    } else {
      options.areas.push_back({std::move(area), level});
    }
  }
  return {};
}

Severity CountedLevel(int net) {
  constexpr Severity kTalkative[] = {Severity::kVerbose, Severity::kExtraVerbose,
                                     Severity::kSuperVerbose, Severity::kUltraVerbose};
  constexpr Severity kQuiet[] = {Severity::kStart, Severity::kFinish, Severity::kWarning,
                                 Severity::kError, Severity::kCritical};
  if (net > 0) return kTalkative[std::min(net, 4) - 1];
  return kQuiet[std::min(-net, 5) - 1];
}

}  // namespace

Result<ConsoleLogOptions> BindLog(const ParsedArgs& args) {
  const LogWords words = ReadWords<LogWords>(args);
  ConsoleLogOptions options;
  VERNIER_TRY(AddNamedLevels(words.levels, options));
  // As in Polygraphy, -v and -q beat --verbosity, and --silent beats both.
  if (words.louder != 0) options.threshold = CountedLevel(words.louder);
  if (words.silent) {
    options.threshold = Severity::kCritical;
    options.areas.clear();
  }
  options.timestamp = words.timestamp;
  options.line_info = words.line_info;
  options.colors = !words.no_colors && TerminalWantsColors();
  options.in_workflow = InGitHubWorkflow();
  const char* const kept = FolderOfResults(args).empty() ? "" : kDefaultLog;
  options.log_file = NameOfShard(args, InOutputFolder(args, words.file.value_or(kept)));
  return options;
}

}  // namespace vernier
