#include <filesystem>

#include "cli/commands/command_start.h"
#include "cli/commands/commands.h"
#include "io/directory_listing.h"
#include "io/recover.h"
#include "run/parts_to_recover.h"

namespace vernier {
namespace {

constexpr std::string_view kPartial = ".partial";

// NAME.partial for NAME, where that is meant.
std::string FolderOf(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const std::string folder = path + std::string(kPartial);
  return !IsPartialFolder(path) && IsPartialFolder(folder) ? folder : path;
}

// NAME of NAME.partial and NAME.partial.3: beside the folder, wherever it was moved to.
std::string NameOf(const std::string& folder) {
  const size_t end = folder.rfind(kPartial);
  return end == std::string::npos || end == 0 ? "" : folder.substr(0, end);
}

// A directory of iterations that was being written is completed; anything else would be replaced.
Status CheckFree(const std::string& folder, const std::string& output) {
  std::error_code error;
  if (!std::filesystem::exists(output, error)) return {};
  VERNIER_ASSIGN_OR_RETURN(const PartialManifest manifest, ReadPartialManifest(folder));
  if (manifest.format == ResultsFormat::kJsonDirectory && IsDirectory(output)) return {};
  return InvalidArgument("'" + output +
                         "' exists: name another file with -o, or replace it with --overwrite");
}

Status Recover(const ParsedArgs& args, Logger& log) {
  const std::string named = FolderOf(std::string(*args.Value("path")));
  if (!IsPartialFolder(named)) {
    return Malformed("'" + named + "' is no folder of parts: expected the NAME.partial of a run");
  }
  const std::string output(args.Value("output").value_or(NameOf(named)));
  if (output.empty()) return InvalidArgument("say where to save with -o");
  VERNIER_ASSIGN_OR_RETURN(const PartsToRecover parts, ChooseParts(named, NameOf(named)));
  const std::string& folder = parts.folder;
  if (!args.Has("overwrite")) VERNIER_TRY(CheckFree(folder, output));
  for (const std::string& note : parts.notes) log.Warning(note);
  log.Info("Saving what '" + folder + "' holds to " + output);
  VERNIER_ASSIGN_OR_RETURN(const RecoveredResults recovered, RecoverResults(folder, output));
  for (const SavedRun& run : recovered.runs) {
    log.Info("Recovered " + std::to_string(run.iterations) + " iteration(s) of " +
             (recovered.inputs ? "inputs" : "runner '" + run.name + "'"));
  }
  if (recovered.lost == 0) return {};
  return IoError(std::to_string(recovered.lost) + " iteration(s) could not be recovered: " +
                 recovered.why_lost + "; the parts stay in '" + recovered.kept_parts + "'");
}

}  // namespace

int DataRecoverCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(*FindCommand("data recover"), words, invocation);
  if (start.exit_code) return *start.exit_code;
  return EndCommand(Recover(start.args, *start.log), invocation, *start.log);
}

}  // namespace vernier
