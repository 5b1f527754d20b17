#include "data/recovery.h"

#include <filesystem>

#include "data/data_files.h"
#include "io/bytes/directory_listing.h"
#include "io/recovery/recover.h"
#include "io/results/partial_folder.h"
#include "io/results/partial_results.h"
#include "run/feeds/shard_names.h"
#include "run/saved/parts_to_recover.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

// NAME.partial for NAME, where that is meant.
std::string FolderOf(std::string path) {
  path = WithoutTrailingSlashes(std::move(path));
  const std::string folder = path + kPartialSuffix;
  const bool is_name = !IsPartialFolder(path) && !LacksJournal(path);
  return is_name && (IsPartialFolder(folder) || LacksJournal(folder)) ? folder : path;
}

// NAME of NAME.partial and NAME.partial.3: beside the folder, wherever it was moved to.
std::string NameOf(const std::string& folder) {
  const size_t end = folder.rfind(kPartialSuffix);
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

// iteration(s) 5, 7-9 of runner 'a', 5 of runner 'b'
std::string DescribeLost(const RecoveredResults& recovered) {
  std::string text;
  for (size_t run = 0; run < recovered.lost.size(); ++run) {
    if (recovered.lost[run].empty()) continue;
    text += (text.empty() ? "iteration(s) " : ", ") + NumberRanges(recovered.lost[run]) + " of " +
            (recovered.inputs ? "inputs" : "runner '" + recovered.runs[run].name + "'");
  }
  return text;
}

// Ok where everything that was promised is in the new file.
Status DescribeLoss(const RecoveredResults& recovered) {
  if (recovered.whole()) return {};
  const std::string stay = "; the parts stay in '" + recovered.kept_parts + "'";
  if (recovered.lost_count() == 0) {
    return IoError(recovered.damage + "; all that its other lines describe was recovered" + stay);
  }
  const std::string damage = recovered.damage.empty() ? "" : "; " + recovered.damage;
  return IoError("left out: " + DescribeLost(recovered) + " (" + recovered.why_lost + ")" +
                 (recovered.moved_up        ? ", later ones have moved up"
                  : recovered.keeps_numbers ? ", the folder has no whole file of them"
                                            : "") +
                 damage + stay);
}

}  // namespace

Status RecoverData(const DataRecoveryPlan& plan, Logger& log) {
  const std::string named = FolderOf(plan.path);
  if (LacksJournal(named)) {
    return Malformed("'" + named + "' has lost its " + kJournalName +
                     ", without which its parts cannot be read");
  }
  if (!IsPartialFolder(named)) {
    return Malformed("'" + named +
                     "' is not a folder of parts: expected the NAME.partial of a run");
  }
  const std::string output = plan.output.value_or(NameOf(named));
  if (output.empty()) return InvalidArgument("say where to save with -o");
  // Files of shards are joined by their names, and what comes behind one that is short moves up.
  if (ReadShardFileName(output)) {
    return InvalidArgument("'" + output + "' is the name of a whole shard, and what is recovered " +
                           "may be less: run the shard again with --resume, or name another file " +
                           "with -o");
  }
  // What the run was to write may have any name.
  if (output != NameOf(named)) {
    VERNIER_TRY(CheckExtension(output, {".json", ".npz", ".safetensors"}));
  }
  VERNIER_ASSIGN_OR_RETURN(const PartsToRecover parts, ChooseParts(named, NameOf(named)));
  const std::string& folder = parts.folder;
  if (!plan.overwrite) VERNIER_TRY(CheckFree(folder, output));
  for (const std::string& note : parts.notes) log.Warning(note);
  log.Info("Saving what '" + folder + "' holds to " + output);
  VERNIER_ASSIGN_OR_RETURN(const RecoveredResults recovered, RecoverResults(folder, output));
  for (const SavedRun& run : recovered.runs) {
    log.Info("Recovered " + Counted(run.iterations, "iteration") + " of " +
             (recovered.inputs ? "inputs" : "runner '" + run.name + "'"));
  }
  return DescribeLoss(recovered);
}

}  // namespace vernier
