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
Status BindNamedLevels(const ParsedArgs& args, ConsoleLogOptions& options) {
  for (const std::string& word : args.List("verbosity")) {
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

// -v and -q, counted against each other.
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
  ConsoleLogOptions options;
  VERNIER_TRY(BindNamedLevels(args, options));
  // As in Polygraphy, -v and -q beat --verbosity, and --silent beats both.
  const int net = args.Count("verbose") - args.Count("quiet");
  if (net != 0) options.threshold = CountedLevel(net);
  if (args.Has("silent")) {
    options.threshold = Severity::kCritical;
    options.areas.clear();
  }
  options.colors = TerminalWantsColors();
  options.in_workflow = InGitHubWorkflow();
  for (const std::string& word : args.List("log_format")) {
    options.timestamp |= word == "timestamp";
    options.line_info |= word == "line-info";
    if (word == "no-colors") options.colors = false;
  }
  const std::string_view kept = args.Value("output_dir").value_or("").empty() ? "" : kDefaultLog;
  const std::string log_file(args.Value("log_file").value_or(kept));
  options.log_file = NameOfShard(args, InOutputFolder(args, log_file));
  return options;
}

}  // namespace vernier
