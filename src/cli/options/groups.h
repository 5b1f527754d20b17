// The option groups of all commands, one source file per topic. The rows live as long as the
// program.
#pragma once

#include <vector>

#include "cli/option_table.h"

namespace vernier {

OptionGroup GeneralOptions();
OptionGroup LoggingOptions();
OptionGroup RunnerOptions();
OptionGroup ModelOptions();
std::vector<OptionGroup> TensorFlowOptions();
OptionGroup OnnxSaveOptions();
OptionGroup OnnxShapeInferenceOptions();
OptionGroup OnnxLoadOptions();
OptionGroup OnnxRuntimeOptions();
OptionGroup OpenVinoOptions();
OptionGroup TensorRtConfigOptions();
std::vector<OptionGroup> TensorRtLoadOptions();
OptionGroup TensorRtRunOptions();
OptionGroup DataLoaderOptions();
OptionGroup ComparatorRunOptions();
OptionGroup PostprocessOptions();
std::vector<OptionGroup> CompareOptions();
OptionGroup WorkerOptions();
OptionGroup ProfileOptionRows();
OptionGroup ReportOptions();
OptionGroup InspectOptions();
OptionGroup DocumentOptions();
OptionGroup TacticReplayOptions();
OptionGroup DiffTacticsOptions();
OptionGroup ExtractOptions();
OptionGroup NewModelOptions();
OptionGroup SanitizeOptions();
OptionGroup ConstantFoldingOptions();
OptionGroup DefaultShapeInferenceOptions();
OptionGroup InsertOptions();
OptionGroup WeightStripOptions();
OptionGroup DebugCheckOptions();
OptionGroup DebugArtifactOptions();
OptionGroup DebugPrecisionOptions();
OptionGroup DebugReduceOptions();
OptionGroup DebugRepeatOptions();
OptionGroup DebugJobOptions();
OptionGroup BlameOptions();
OptionGroup BlameAloneOptions();
OptionGroup RunAndBlameOptions();
OptionGroup ReportFileOptions();
OptionGroup ScriptOptions();
OptionGroup ComparedFilesOptions();
OptionGroup ConvertOptions();
OptionGroup BatchOptions();
OptionGroup AccuracyFileOptions();
OptionGroup ConsistencyCheckOptions();
OptionGroup LintCheckOptions();
OptionGroup ExtremesCheckOptions();
OptionGroup BackendListOptions();
OptionGroup DoctorOptions();
OptionGroup PluginPatternOptions();
OptionGroup PluginFileOptions();
OptionGroup PluginAutotuneOptions();
OptionGroup ShardSourceOptions();
OptionGroup ShardHintOptions();
OptionGroup TemplateOptions();
OptionGroup TensorFlowRefusedOptions();
OptionGroup CapabilityOptions();
OptionGroup DataFilesOptions();
OptionGroup DataConvertOptions();
OptionGroup DataShowOptions();
OptionGroup DataRecoverOptions();

}  // namespace vernier
