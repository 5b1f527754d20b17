#include <algorithm>

#include "options/table/command_words.h"
#include "options/table/groups.h"
#include "options/table/option_values.h"

namespace vernier {
namespace {

constexpr std::string_view kLogFormats[] = {"timestamp", "line-info", "no-colors"};

constexpr OptionRow kGeneral[] = {
    {.flags = {"-h", "--help"},
     .dest = "help",
     .action = OptionAction::kHelp,
     .help = "Print this help and exit."},
};

constexpr std::string_view kPythonLogger =
    "the log is Python's logger 'vernier': set its level and handlers";

// -v and -q, counted against each other.
Status SetLouder(const OptionInput&, LogWords& log) {
  ++log.louder;
  return {};
}

Status SetQuieter(const OptionInput&, LogWords& log) {
  --log.louder;
  return {};
}

Status SetFormat(const OptionInput& input, LogWords& log) {
  const auto has = [&](std::string_view part) {
    return std::ranges::find(input.given.values, part) != input.given.values.end();
  };
  log.timestamp = has("timestamp");
  log.line_info = has("line-info");
  log.no_colors = has("no-colors");
  return {};
}

constexpr OptionRow kLogging[] = {
    {.flags = {"-v", "--verbose"},
     .dest = "verbose",
     .sets = SetBy<&SetLouder>(),
     .in_package = InPackage::kOwnWay,
     .elsewhere = kPythonLogger,
     .action = OptionAction::kCount,
     .help = "Log more, including what the frameworks print. Repeat it (-vv, -vvv, -vvvv) for more"
             " detail."},
    {.flags = {"-q", "--quiet"},
     .dest = "quiet",
     .sets = SetBy<&SetQuieter>(),
     .in_package = InPackage::kOwnWay,
     .elsewhere = kPythonLogger,
     .action = OptionAction::kCount,
     .help = "Log less. Repeat it for fewer lines; each -q undoes one -v."},
    {.flags = {"--verbosity"},
     .dest = "verbosity",
     .sets = Sets<&LogWords::levels>(),
     .in_package = InPackage::kOwnWay,
     .elsewhere = kPythonLogger,
     .arity = Arity::kPlus,
     .metavar = "[PATH:]LEVEL",
     .help = "Log level by name: ULTRA_VERBOSE, SUPER_VERBOSE, EXTRA_VERBOSE, VERBOSE, INFO, START,"
             " FINISH, WARNING, ERROR or CRITICAL, in any case. PATH: sets a level for one part of"
             " the program."},
    {.flags = {"--silent"},
     .dest = "silent",
     .sets = Sets<&LogWords::silent>(),
     .in_package = InPackage::kOwnWay,
     .elsewhere = kPythonLogger,
     .help = "Print critical messages only, whatever the other log flags say."},
    {.flags = {"--log-format"},
     .dest = "log_format",
     .sets = SetBy<&SetFormat>(),
     .in_package = InPackage::kOwnWay,
     .elsewhere = kPythonLogger,
     .arity = Arity::kPlus,
     .choices = kLogFormats,
     .metavar = "PART",
     .help = "Parts to add to each log line (timestamp, line-info), and no-colors for plain text."},
    {.flags = {"--log-file"},
     .dest = "log_file",
     .sets = Sets<&LogWords::file>(),
     .files = FileUse::kWrites,
     .in_package = InPackage::kOwnWay,
     .elsewhere = kPythonLogger,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Also write every log line to FILE. Missing folders are created.",
     .standing = Standing::kBetter,
     .note = "The file is opened once, so the first lines of a run are not lost."},
    {.flags = {"--no-progress"},
     .dest = "no_progress",
     .sets = Sets<&LogWords::no_progress>(),
     .in_api = InApi::kYes,
     .in_package = InPackage::kOwnWay,
     .help = "Show no progress line, even on a terminal.",
     .origin = Origin::kOurs},
};

}  // namespace

OptionGroup GeneralGroup() { return {"General", "this command", kGeneral}; }

OptionGroup LoggingGroup() { return {"Logging", "what is printed and where", kLogging}; }

}  // namespace vernier
