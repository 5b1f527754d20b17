// What a model computes before it is changed, for a comparison with what it computes then.
#pragma once

#include <string>

#include "debug/check_command.h"
#include "util/files/scratch_folder.h"
#include "vernier/status.h"

namespace vernier {

class ReferenceRun {
 public:
  /// Runs `vernier run MODEL OPTIONS`, changed where that can be, keeps inputs and outputs in
  /// files, and adds the options that load them to the check's. Where those load outputs
  /// themselves, and for commands, nothing is run. Errors of the run and of the change.
  static Result<ReferenceRun> Make(const std::string& model, CheckCommand& check,
                                   const CheckCommand::Change& change);

 private:
  explicit ReferenceRun(ScratchFolder folder) : folder_(std::move(folder)) {}

  ScratchFolder folder_;
};

}  // namespace vernier
