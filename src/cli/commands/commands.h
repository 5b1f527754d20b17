// The commands of the program. Each takes the words after its name and returns an exit code.
#pragma once

#include <span>
#include <string>

#include "cli/bind_run.h"

namespace vernier {

using Command = int(std::span<const std::string> words, const Invocation& invocation);

/// Runs a model under the named runners and compares what they compute.
Command RunCommand;

/// Finds the layer that makes two runners differ.
Command BlameCommand;

/// Shows the graph of a model.
Command InspectModelCommand;

/// Builds an engine again and again; finds the nodes that need float32 and the fewest nodes of a
/// model that fail a check; runs a check again and again.
Command DebugBuildCommand;
Command DebugPrecisionCommand;
Command DebugReduceCommand;
Command DebugRepeatCommand;

/// Says which weights of a model are sparse.
Command InspectSparsityCommand;

/// Show TensorRT's tactic replays, and what only bad ones hold.
Command InspectTacticsCommand;
Command InspectDiffTacticsCommand;

/// Cuts a part out of a model.
Command SurgeonExtractCommand;

/// Cleans a model up: outputs, shapes, constants, unused parts.
Command SurgeonSanitizeCommand;

/// Puts a node into a model.
Command SurgeonInsertCommand;

/// Make weights 2:4 sparse, take them out, and put stand-ins back.
Command SurgeonPruneCommand;
Command SurgeonWeightStripCommand;
Command SurgeonWeightReconstructCommand;

/// Runs many models, each in a process of its own.
Command BatchCommand;

/// Compares saved files.
Command CompareCommand;

/// Writes a model in another form.
Command ConvertCommand;

/// Holds saved measures against other thresholds.
Command CheckAccuracyCommand;

/// Tries what must hold of each runner by itself.
Command CheckConsistencyCommand;

/// Shows what runners make of denormals, zeros, large values, NaN and infinity.
Command CheckExtremesCommand;

/// Finds the faults of a model by itself.
Command CheckLintCommand;

/// Appends the iterations of files to each other.
Command DataConcatCommand;

/// Joins the tensors of files, iteration by iteration, to one file of inputs.
Command DataMergeCommand;

/// Writes a file in another format.
Command DataConvertCommand;

/// Says what a file holds. InspectDataCommand does so in the words of the peer's `inspect data`.
Command DataShowCommand;
Command InspectDataCommand;

/// Makes a whole file of the parts that a killed run left behind.
Command DataRecoverCommand;

/// Measures runners one at a time.
Command ProfileCommand;

/// Makes reports of a saved record.
Command ReportCommand;

/// Lists every backend with what it found, or why it cannot be used. `--require NAME...` makes a
/// backend that cannot be used an error.
Command BackendsCommand;

/// Which parts of a model TensorRT's parser takes.
Command InspectCapabilityCommand;

/// Where patterns of plug-ins occur in a model; what replaces them; what is fastest.
Command PluginListCommand;
Command PluginMatchCommand;
Command PluginReplaceCommand;
Command PluginAutotuneCommand;

/// Scripts to be filled in by hand, and hints for sharding.
Command TemplateNetworkCommand;
Command TemplateConfigCommand;
Command TemplateGraphCommand;
Command ShardHintsCommand;

/// Cuts a model for several devices.
Command MultiDeviceShardCommand;

/// Tells what is installed, found and usable, and how to get the rest.
Command DoctorCommand;

/// Looks at NVIDIA's driver for doctor, in a process of its own. Not for people.
Command GpuProbeCommand;

/// Prints a completion script for the named shell.
Command CompletionCommand;

/// Prints the pages of docs/ that are made from the option rows, and their list.
Command OptionDocsCommand;

/// Serves one framework to a parent process. Not for people.
Command WorkerCommand;

}  // namespace vernier
