// The option groups of all commands, one source file per topic. The rows live as long as the
// program.
#pragma once

#include <string_view>
#include <vector>

#include "options/table/option_table.h"

namespace vernier {

/// Beside a script that judges by itself most options of the comparison have no effect.
inline constexpr std::string_view kOwnJudge = "--compare-func-script";

/// OptionRow::elsewhere of several rows.
inline constexpr std::string_view kOnlyProgram = "only the program does that: `python -m vernier`";

OptionGroup GeneralGroup();
OptionGroup LoggingGroup();
OptionGroup RunnerGroup();
OptionGroup ModelGroup();
std::vector<OptionGroup> TensorFlowGroup();
OptionGroup OnnxSaveGroup();
OptionGroup OnnxShapeInferenceGroup();
OptionGroup OnnxLoadGroup();
OptionGroup OnnxRuntimeGroup();
OptionGroup OpenVinoGroup();
OptionGroup TensorRtConfigGroup();
OptionGroup TensorRtShortFormGroup();   // same heading as TensorRtConfigGroup
OptionGroup TensorRtCapabilityGroup();  // of `convert` alone, under the heading of ConvertGroup
OptionGroup TensorRtPluginGroup();
OptionGroup TensorRtParserGroup();
OptionGroup TensorRtNetworkGroup();
OptionGroup TensorRtEngineGroup();
std::vector<OptionGroup> TensorRtLoadGroup();  // the four above
OptionGroup TensorRtRunGroup();
OptionGroup DataLoaderGroup();
OptionGroup StepGroup();
OptionGroup ComparatorRunGroup();
OptionGroup PostprocessGroup();
OptionGroup ComparisonGroup();
OptionGroup CompareSimpleGroup();
OptionGroup CompareIndicesGroup();
OptionGroup CompareLogitsGroup();
OptionGroup CompareTokensGroup();
OptionGroup CompareMetricsGroup();
std::vector<OptionGroup> CompareGroup();  // the six above
OptionGroup DecisionGroup();
OptionGroup BootstrapGroup();
OptionGroup JudgedDecisionGroup();
OptionGroup FlipFileGroup();
OptionGroup MapGroup();
OptionGroup WorkerGroup();
OptionGroup ReplicaGroup();
OptionGroup ProfileOptionRows();
OptionGroup ReportGroup();
OptionGroup ShardGroup();
OptionGroup ModelShardGroup();  // of a batch
OptionGroup ReproducibleGroup();
OptionGroup MergeGroup();
OptionGroup RunFileGroup();
OptionGroup InspectGroup();
OptionGroup DocumentGroup();
OptionGroup ExtractGroup();
OptionGroup NewModelGroup();
OptionGroup SanitizeGroup();
OptionGroup ConstantFoldingGroup();
OptionGroup DefaultShapeInferenceGroup();
OptionGroup InsertGroup();
OptionGroup WeightStripGroup();
OptionGroup DebugCheckGroup();
OptionGroup DebugArtifactGroup();
OptionGroup DebugPrecisionGroup();
OptionGroup DebugReduceGroup();
OptionGroup DebugRepeatGroup();
OptionGroup DebugJobGroup();
OptionGroup BlameGroup();
OptionGroup BlameAloneGroup();
OptionGroup RunAndBlameGroup();
OptionGroup ScriptGroup();
OptionGroup ComparedFilesGroup();
std::vector<OptionGroup> ConvertGroup();
OptionGroup BatchGroup();
OptionGroup AccuracyFileGroup();
OptionGroup ConsistencyCheckGroup();
OptionGroup LintCheckGroup();
OptionGroup ExtremesCheckGroup();
OptionGroup PluginPatternGroup();
OptionGroup PluginFileGroup();
OptionGroup PluginAutotuneGroup();
OptionGroup ShardSourceGroup();
OptionGroup ShardHintGroup();
OptionGroup TemplateGroup();
OptionGroup TensorFlowRefusedGroup();
OptionGroup CapabilityGroup();
OptionGroup DataFilesGroup();
OptionGroup DataConvertGroup();
OptionGroup DataRecoverGroup();

}  // namespace vernier
