// What a TensorRT engine says of itself, through a file that its plug-in writes while it opens it.
#pragma once

#include <optional>
#include <string_view>

#include "backend/wire/messages.h"
#include "record/schema/engine_record.h"
#include "util/files/scratch_folder.h"
#include "vernier/run_plan.h"

namespace vernier {

/// The session option with the path.
inline constexpr std::string_view kEngineReport = "engine_report";

class EngineReportFile {
 public:
  /// For a runner whose plug-in writes one; else, and where there is no place for a file, one
  /// that nothing is written to.
  static EngineReportFile For(const RunnerPlan& runner);

  /// Adds the option that asks for it. Of several the plug-in takes the last one.
  void AddTo(OptionList& options) const;

  /// kUnavailable where the plug-in wrote nothing.
  Result<EngineRecord> Read() const;
  /// How the engine was built; nothing where that is not known.
  std::optional<EngineBuildRecord> ReadBuild() const;

 private:
  std::optional<ScratchFolder> folder_;
};

}  // namespace vernier
