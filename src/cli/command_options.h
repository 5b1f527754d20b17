// Which option groups each command has. `run` has its own in option_table.h.
#pragma once

#include "cli/option_table.h"

namespace vernier {

// Commands that run or compare.
OptionTable BlameOptionTable();
OptionTable CompareOptionTable();
OptionTable CheckAccuracyOptionTable();
OptionTable CheckExtremesOptionTable();
OptionTable CheckConsistencyOptionTable();
OptionTable CheckLintOptionTable();
OptionTable ProfileOptionTable();

// Commands that show, change or reduce models.
OptionTable ConvertOptionTable();
OptionTable InspectOptionTable();
OptionTable ExtractOptionTable();
OptionTable SanitizeOptionTable();
OptionTable InsertOptionTable();
OptionTable WeightStripOptionTable();
OptionTable DebugBuildOptionTable();
OptionTable DebugPrecisionOptionTable();
OptionTable DebugReduceOptionTable();
OptionTable DebugRepeatOptionTable();
OptionTable SparsityOptionTable();
OptionTable TacticReplayOptionTable();
OptionTable DiffTacticsOptionTable();
OptionTable WeightOptionTable();

// The peer's smaller tools.
OptionTable CapabilityOptionTable();
OptionTable PluginListOptionTable();
OptionTable PluginMatchOptionTable();
OptionTable PluginReplaceOptionTable();
OptionTable PluginAutotuneOptionTable();
OptionTable TemplateNetworkOptionTable();
OptionTable TemplateConfigOptionTable();
OptionTable TemplateGraphOptionTable();
OptionTable ShardHintsOptionTable();
OptionTable ShardOptionTable();

}  // namespace vernier
