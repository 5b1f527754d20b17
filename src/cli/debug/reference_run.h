// What a model computes before it is changed, for a comparison with what it computes then.
#pragma once

#include <string>
#include <vector>

#include "util/scratch_folder.h"
#include "vernier/status.h"

namespace vernier {

class ReferenceRun {
 public:
  /// Runs `vernier run MODEL OPTIONS`, keeps inputs and outputs in files, and adds the options that
  /// load them to `options`. Where those load outputs themselves nothing is run. Errors of the run.
  static Result<ReferenceRun> Make(const std::string& model, std::vector<std::string>& options);

 private:
  explicit ReferenceRun(ScratchFolder folder) : folder_(std::move(folder)) {}

  ScratchFolder folder_;
};

}  // namespace vernier
