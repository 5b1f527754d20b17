// The commands of the program, in the order of the help within their sections. One line registers
// a command, which its own file defines.
#pragma once

#include "cli/table/command_table.h"

// clang-format off
#define VERNIER_COMMANDS(COMMAND) \
  COMMAND(kRunCommand) \
  COMMAND(kBlameCommand) \
  COMMAND(kBatchCommand) \
  COMMAND(kCompareCommand) \
  COMMAND(kMergeCommand) \
  COMMAND(kConvertCommand) \
  COMMAND(kCheckAccuracyCommand) \
  COMMAND(kCheckConsistencyCommand) \
  COMMAND(kCheckExtremesCommand) \
  COMMAND(kCheckLintCommand) \
  COMMAND(kDataConcatCommand) \
  COMMAND(kDataMergeCommand) \
  COMMAND(kDataConvertCommand) \
  COMMAND(kDataSelectCommand) \
  COMMAND(kDataShowCommand) \
  COMMAND(kDataRecoverCommand) \
  COMMAND(kDebugBuildCommand) \
  COMMAND(kDebugPrecisionCommand) \
  COMMAND(kDebugReduceCommand) \
  COMMAND(kDebugRepeatCommand) \
  COMMAND(kInspectModelCommand) \
  COMMAND(kInspectDataCommand) \
  COMMAND(kInspectSparsityCommand) \
  COMMAND(kInspectTacticsCommand) \
  COMMAND(kInspectDiffTacticsCommand) \
  COMMAND(kInspectCapabilityCommand) \
  COMMAND(kSurgeonExtractCommand) \
  COMMAND(kSurgeonInsertCommand) \
  COMMAND(kSurgeonPruneCommand) \
  COMMAND(kSurgeonSanitizeCommand) \
  COMMAND(kSurgeonWeightReconstructCommand) \
  COMMAND(kSurgeonWeightStripCommand) \
  COMMAND(kProfileCommand) \
  COMMAND(kReportCommand) \
  COMMAND(kBackendsCommand) \
  COMMAND(kTemplateNetworkCommand) \
  COMMAND(kTemplateConfigCommand) \
  COMMAND(kTemplateGraphCommand) \
  COMMAND(kShardHintsCommand) \
  COMMAND(kPluginListCommand) \
  COMMAND(kPluginMatchCommand) \
  COMMAND(kPluginReplaceCommand) \
  COMMAND(kPluginAutotuneCommand) \
  COMMAND(kMultiDeviceShardCommand) \
  COMMAND(kDoctorCommand) \
  COMMAND(kCompletionCommand) \
  COMMAND(kOptionDocsCommand) \
  COMMAND(kGpuProbeCommand) \
  COMMAND(kWorkerCommand)
// clang-format on

namespace vernier {

#define VERNIER_DECLARE_COMMAND(name) extern const CommandSpec name;
VERNIER_COMMANDS(VERNIER_DECLARE_COMMAND)
#undef VERNIER_DECLARE_COMMAND

}  // namespace vernier
