// Makes a complete file from what a killed run, or one whose disk was full, has left.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "io/results/partial_results.h"
#include "io/results/results_reader.h"
#include "vernier/status.h"

namespace vernier {

struct RecoveredResults {
  bool inputs = false;         ///< feeds were saved there: one run of them
  std::vector<SavedRun> runs;  ///< what the new file has
  /// Of each run the iterations that the journal promised and the new file does not have, and the
  /// first reason. Where one is damaged of one runner and later ones are not, it is left out of
  /// all runners: those behind it move up, and still belong together. In the directory that was
  /// being written none moves.
  std::vector<std::vector<size_t>> lost;
  std::string why_lost;
  /// Why there may be more that was lost: the journal has lines that cannot be read. A sentence
  /// without its full stop; empty where all is whole.
  std::string damage;
  bool moved_up = false;       ///< there are such
  bool keeps_numbers = false;  ///< that directory was completed
  /// Where the parts are, if they were kept because something was lost.
  std::string kept_parts;

  size_t lost_count() const;
  bool whole() const { return lost_count() == 0 && damage.empty(); }
};

/// Writes every whole iteration of every runner, or of the inputs, in the folder `partial`
/// (NAME.partial, or the NAME.partial.<n> to which a later run renamed it) to `path`, in the format
/// that `path` asks for as with --save-outputs, and then removes the folder. Runners may end at
/// different iterations. Where `path` is the directory of per-iteration files that was being
/// written, it is completed; any other `path` is replaced in one step, so ask before when something
/// stands there. Until then the folder keeps its name, and the new parts are beside it. Memory is
/// that of one iteration of all runners.
///
/// kMalformed when the folder is none, is in use by a run, or holds no whole iteration; kIo when
/// `path` cannot be written. After an error nothing is lost.
Result<RecoveredResults> RecoverResults(const std::string& partial, const std::string& path);

}  // namespace vernier
