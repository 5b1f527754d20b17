// What TensorRT chose for its layers, as --save-tactics saved it.
#include <filesystem>

#include "cli/commands/command_start.h"
#include "cli/commands/print_document.h"
#include "cli/table/commands.h"
#include "options/table/document_format.h"
#include "options/table/option_sets.h"
#include "options/table/option_values.h"
#include "report/models/engine_json.h"
#include "report/models/tactic_replay.h"
#include "util/log/no_log.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

struct ReplayShown {
  std::string path;
};

constexpr OptionRow kTacticReplay[] = {
    {.dest = "tactic_replay",
     .sets = Sets<&ReplayShown::path>(),
     .arity = Arity::kOne,
     .metavar = "tactic_replay",
     .help = "A file that --save-tactics wrote."},
};

struct ReplayPlaces {
  std::string folder;                    // has the folders good and bad
  std::optional<std::string> good, bad;  // instead of those
};

constexpr OptionRow kDiffTactics[] = {
    {.flags = {"--dir"},
     .dest = "dir",
     .sets = Sets<&ReplayPlaces::folder>(),
     .files = FileUse::kUnchecked,
     .arity = Arity::kOne,
     .fallback = "the current one",
     .metavar = "DIR",
     .help = "A folder that contains folders good and bad, with tactic replays at any depth."},
    {.flags = {"--good"},
     .dest = "good",
     .sets = Sets<&ReplayPlaces::good>(),
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "PATH",
     .help = "A good tactic replay, or a folder of them, instead of DIR/good."},
    {.flags = {"--bad"},
     .dest = "bad",
     .sets = Sets<&ReplayPlaces::bad>(),
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "PATH",
     .help = "A bad tactic replay, or a folder of them, instead of DIR/bad."},
};

Status ShowTactics(const ParsedArgs& args, Logger& log) {
  ReplayShown shown;
  VERNIER_TRY(BindOptions(args, {.log = &log}, {shown}));
  const bool json = WantsDocument(args);
  if (!json) log.Info("Loading tactic replay file from " + shown.path);
  VERNIER_ASSIGN_OR_RETURN(const std::vector<TacticOfLayer> tactics, ReadTacticReplay(shown.path));
  if (json) return PrintDocument(FormatTacticsJson(tactics));
  std::string text;
  for (const TacticOfLayer& tactic : tactics) {
    text += (text.empty() ? "" : "\n") + std::string("Layer: ") + tactic.layer +
            "\n    Algorithm: " + tactic.algorithm;
  }
  log.Info(text);
  return {};
}

// The folder or file of one flag, else the folder of that name in --dir.
LoadedReplays Load(const ReplayPlaces& places, const std::string& name, Logger& log) {
  const bool is_good = name == "good";
  const std::string path = (is_good ? places.good : places.bad)
                               .value_or((std::filesystem::path(places.folder) / name).string());
  LoadedReplays loaded = LoadTacticReplays(path);
  for (const std::string& file : loaded.read) {
    log.Info("Loading tactic replay file from " + file);
  }
  for (const std::string& file : loaded.skipped) {
    log.Verbose(file + " does not look like a tactic replay file, skipping.");
  }
  log.Info("Loaded " + std::to_string(loaded.read.size()) + " " + name + " tactic replays.");
  log.Verbose((is_good ? "Good" : "Bad") + std::string(" tactic replays: ") +
              FormatPythonList(loaded.read));
  if (loaded.read.empty()) log.Warning("There is no tactic replay in '" + path + "'");
  return loaded;
}

void LogDifference(const TacticsByLayer& found, Logger& log) {
  if (found.empty()) {
    return log.Info(
        "Could not determine potentially bad tactics. Try providing more tactic replay files if "
        "possible.");
  }
  log.Info("Found potentially bad tactics:");
  for (const auto& [layer, algorithms] : found) {
    log.Info("Layer: " + layer + "\n    Algorithms: " + FormatPythonList(algorithms));
  }
}

Status DiffTactics(const ParsedArgs& args, bool as_polygraphy, Logger& log) {
  ReplayPlaces places;
  VERNIER_TRY(BindOptions(args, {.log = &log}, {places}));
  const bool json = WantsDocument(args);
  NoLog silence;
  Logger& text_log = json ? static_cast<Logger&>(silence) : log;
  const LoadedReplays good = Load(places, "good", text_log);
  const LoadedReplays bad = Load(places, "bad", text_log);
  const TacticsByLayer found = OnlyInBad(good.tactics, bad.tactics);
  if (json) VERNIER_TRY(PrintDocument(FormatTacticDifferenceJson(good, bad, found)));
  LogDifference(found, text_log);
  // Each missing kind has had its warning; Polygraphy leaves it at none.
  if (as_polygraphy || (!good.read.empty() && !bad.read.empty())) return {};
  return Malformed("nothing was compared: both good and bad tactic replays are needed");
}

int InspectTacticsCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kInspectTacticsCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  return EndCommand(ShowTactics(start.args, *start.log), invocation, *start.log);
}

int InspectDiffTacticsCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kInspectDiffTacticsCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  return EndCommand(DiffTactics(start.args, invocation.as_polygraphy, *start.log), invocation,
                    *start.log);
}

}  // namespace

constexpr CommandSpec kInspectTacticsCommand = {
    .name = "inspect tactics",
    .section = CommandSection::kTensorRt,
    .operands = "tactic_replay [options ...]",
    .summary = "show the algorithms in a TensorRT tactic replay",
    .about = "List the algorithm that TensorRT chose for each layer, as --save-tactics saved it.",
    .options =
        [] {
          return OptionTable({GeneralGroup(),
                              OptionGroup{"Tactic replay", "what is shown", kTacticReplay},
                              DocumentGroup(), LoggingGroup()});
        },
    .run = InspectTacticsCommand,
};

constexpr CommandSpec kInspectDiffTacticsCommand = {
    .name = "inspect diff-tactics",
    .section = CommandSection::kTensorRt,
    .operands = "[options ...]",
    .summary = "find algorithms that only bad TensorRT engines used",
    .about =
        "Compare the tactic replays of good engines with those of bad engines, and list layer by"
        " layer the algorithms that only the bad ones used.",
    .options =
        [] {
          return OptionTable(
              {GeneralGroup(),
               OptionGroup{"Tactic replays", "which files are compared", kDiffTactics},
               DocumentGroup(), LoggingGroup()});
        },
    .run = InspectDiffTacticsCommand,
};

}  // namespace vernier
