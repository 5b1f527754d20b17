#include "cli/command_table.h"

#include <algorithm>
#include <string>

#include "cli/command_options.h"
#include "cli/options/groups.h"

namespace vernier {
namespace {

OptionTable BatchOptionTable() {
  return OptionTable({GeneralGroup(), BatchGroup(), LoggingGroup()});
}

OptionTable DataFilesOptionTable() {
  return OptionTable({GeneralGroup(), LoggingGroup(), DataFilesGroup()});
}

OptionTable DataConvertOptionTable() {
  return OptionTable({GeneralGroup(), LoggingGroup(), DataConvertGroup()});
}

OptionTable DataShowOptionTable() {
  return OptionTable({GeneralGroup(), LoggingGroup(), DataShowGroup()});
}

OptionTable DataRecoverOptionTable() {
  return OptionTable({GeneralGroup(), LoggingGroup(), DataRecoverGroup()});
}

OptionTable ReportOptionTable() {
  return OptionTable({GeneralGroup(), LoggingGroup(), ReportFileGroup()});
}

OptionTable BackendsOptionTable() {
  return OptionTable(
      {GeneralGroup(), BackendListGroup(), Only(WorkerGroup(), {"python", "backend_dir"})});
}

OptionTable DoctorOptionTable() {
  return OptionTable(
      {GeneralGroup(), DoctorGroup(), Only(WorkerGroup(), {"python", "backend_dir"})});
}

constexpr CommandEntry kCommands[] = {
    {"run",
     {.command = "vernier run",
      .operands = "[model_file] [runners ...] [options ...]",
      .summary = "run a model under several frameworks and compare what they compute",
      .about = "Run a model with one or more runners on the same inputs and compare their"
               " outputs. Runners run and are compared in the order in which they are given."
               " Any unambiguous beginning of a long option is enough."},
     RunOptionTable},
    {"blame",
     {.command = "vernier blame",
      .operands = "[model_file] [runners ...] [options ...]",
      .summary = "find the layer that makes two runners differ",
      .about =
          "Run a model with two runners, or one against saved outputs, and compare every tensor"
          " on the way. Each layer is also run alone by the candidate on the reference's"
          " tensors, so that an error made there is told from one that was inherited. Exit"
          " code 0 only when nothing is to blame."},
     BlameOptionTable},
    {"batch",
     {.command = "vernier batch",
      .operands = "model [model ...] [options ...] -- RUN OPTIONS",
      .summary = "run many models with the same options, and sum them up in one table",
      .about =
          "Run each model as vernier run MODEL RUN OPTIONS would, in a process of its own: what"
          " one of them does to its process is never the end of the others. What a run saves gets"
          " the model's stem in its name (out.json becomes STEM-out.json, a folder DIR becomes"
          " DIR/STEM), or has it where {stem} is. The exit code is that of the worst run."},
     BatchOptionTable},
    {"compare",
     {.command = "vernier compare",
      .operands = "file [file ...] [options ...]",
      .summary = "compare saved outputs, without a model or a framework",
      .about =
          "Compare what files hold, as vernier run --load-outputs does: each file, or each"
          " runner in it, is one side, and neighbours are compared. Files and folders of"
          " Polygraphy's JSON, .npz, .npy, .safetensors and ONNX test data may meet; saved"
          " inputs may be compared too. One iteration at a time is in memory. Put the files"
          " first: an option that takes several values takes all words up to the next option."},
     CompareOptionTable},
    {"convert",
     {.command = "vernier convert",
      .operands = "model_file -o FILE [options ...]",
      .summary = "write a model in another form: edited, in float16, with external weights",
      .about = "Write an ONNX model with other outputs, inferred shapes, float16 in place of"
               " float32, or its weights in another place. Weights are not loaded: a model of any"
               " size can be converted. TensorFlow models are converted by the tf2onnx of your"
               " Python. Or build a TensorRT engine. What is written follows from the extension of"
               " FILE."},
     ConvertOptionTable},
    {"check accuracy",
     {.command = "vernier check accuracy",
      .operands = "path [options ...]",
      .summary = "hold saved measures against other thresholds",
      .about = "Judge the measures that --save-accuracy-results saved by the thresholds given here,"
               " without running or comparing again. simple needs --check-error-stat max, mean,"
               " median or quantile: verdicts on single elements cannot be made again. Other saved"
               " measures are ignored; that nothing was checked is exit code 4."},
     CheckAccuracyOptionTable},
    {"check consistency",
     {.command = "vernier check consistency",
      .operands = "[model_file] [runners ...] [options ...]",
      .summary = "try what must hold of a runner by itself, without a reference",
      .about = "Run a model again and again in circumstances that must not matter: repeated, in"
               " another process, rows of a batch equal, reordered or alone, other shapes, thread"
               " counts, optimisation levels and contents of unused memory. A property that is"
               " broken is exit code 1, with the smallest case that breaks it. The bar is that of"
               " --tolerance auto unless tolerances are given."},
     CheckConsistencyOptionTable},
    {"check extremes",
     {.command = "vernier check extremes",
      .operands = "[model_file] [runners ...] [options ...]",
      .summary = "show what runners make of denormals, zeros, large values, NaN and infinity",
      .about =
          "Put sets of extreme values into the float inputs, run every runner on each, and"
          " tell in a table what came out: NaN, infinities, denormals, zeros, and where one"
          " runner is finite and the first is not. That they differ in what is finite is exit"
          " code 1; that one flushes denormals to zero, or gives other finite values, is told."},
     CheckExtremesOptionTable},
    {"check lint",
     {.command = "vernier check lint",
      .operands = "model_file [runners ...] [options ...]",
      .summary = "find the faults of an ONNX model by itself, each by a rule with a name",
      .about = "Check names, order, operators, types, shapes and weights of an ONNX model without a"
               " framework, then let a runner run it: ONNX Runtime where it is installed, or those"
               " that are named. Where the model does not run as a whole, its nodes are run one by"
               " one. An exception is exit code 1."},
     CheckLintOptionTable},
    {"data concat",
     {.command = "vernier data concat",
      .operands = "paths ... -o FILE [options ...]",
      .summary = "append the iterations of saved files to each other",
      .about = "Write one file with the iterations of several, in their order: either all saved"
               " inputs or all saved outputs. Outputs are joined by the names of their runners."},
     DataFilesOptionTable},
    {"data merge",
     {.command = "vernier data merge",
      .operands = "paths ... -o FILE [options ...]",
      .summary = "join saved inputs and outputs to one file of inputs",
      .about = "Write a file for --load-inputs whose iterations hold the tensors of all files'"
               " iterations of the same number. Outputs should be of one runner; where a name"
               " occurs twice, the later file wins, with a warning. to-input is its older name."},
     DataFilesOptionTable},
    {"data convert",
     {.command = "vernier data convert",
      .operands = "path -o PATH [options ...]",
      .summary = "write saved inputs or outputs in another format",
      .about = "Write what a file holds in another format, one iteration in memory at a time."},
     DataConvertOptionTable},
    {"data show",
     {.command = "vernier data show",
      .operands = "path [options ...]",
      .summary = "say what a file of saved inputs or outputs holds",
      .about = "List runners, iterations and the names, types and shapes of the tensors; with -v"
               " their statistics too."},
     DataShowOptionTable},
    {"data recover",
     {.command = "vernier data recover",
      .operands = "path [-o PATH] [options ...]",
      .summary = "make a whole file of what a killed run had saved",
      .about =
          "A run with --save-outputs or --save-inputs NAME collects in NAME.partial and"
          " replaces NAME at its end. When it was killed, or the disk was full, this makes a file"
          " of every iteration that was finished, and removes the folder."},
     DataRecoverOptionTable},
    {"debug build",
     {.command = "vernier debug build",
      .operands = "model_file --until WHEN [options ...] --check COMMAND ...",
      .summary = "build a TensorRT engine again and again, and check each",
      .about =
          "For engines that are good sometimes: build polygraphy_debug.engine, check it, and move"
          " files such as its tactic replay (--save-tactics FILE --artifacts FILE) into folders"
          " of good and bad ones, which vernier inspect diff-tactics compares."},
     DebugBuildOptionTable},
    {"debug precision",
     {.command = "vernier debug precision",
      .operands = "model_file [-o FILE] [options ...] --check COMMAND ... | -- RUN OPTIONS",
      .summary = "find the nodes of an ONNX model that need float32 in a float16 model",
      .about =
          "Write the model in float16 with casts around some nodes, and check it, until no node"
          " can be left out of those that stay float32. The types are in the model itself, so"
          " this holds for every framework and every TensorRT. With RUN OPTIONS the check is"
          " vernier run: what the unchanged model computes with them is the reference."},
     DebugPrecisionOptionTable},
    {"debug reduce",
     {.command = "vernier debug reduce",
      .operands = "model_file -o FILE [options ...] --check COMMAND ... | -- RUN OPTIONS",
      .summary = "find the fewest nodes of an ONNX model that still fail a check",
      .about =
          "Write ever smaller parts of a failing model and check each, until no node can be left"
          " out any more without the check passing. The command reads polygraphy_debug.onnx, for"
          " example --check ./builds.sh polygraphy_debug.onnx. With RUN OPTIONS, such as --"
          " --onnxrt --openvino, the check is vernier run. A session that was cut off is taken"
          " up by --load-debug-replay."},
     DebugReduceOptionTable},
    {"debug repeat",
     {.command = "vernier debug repeat",
      .operands = "--until WHEN [options ...] --check COMMAND ...",
      .summary = "run a check again and again, and sort what it makes into good and bad",
      .about = "For faults that come and go: run a command until it was good, bad, or often enough,"
               " and move the files that it made into folders."},
     DebugRepeatOptionTable},
    {"inspect model",
     {.command = "vernier inspect model",
      .operands = "model_file [options ...]",
      .summary = "show the graph of an ONNX model, or a TensorRT engine",
      .about = "List inputs, outputs, initializers and nodes. Weights are read only where --show"
               " weights asks for them. An engine is loaded, on a GPU, and shows its profiles and"
               " layers, as far as it was built to."},
     InspectOptionTable},
    {"inspect data",
     {.command = "vernier inspect data",
      .operands = "path [options ...]",
      .summary = "say what a file of saved inputs or outputs holds, with statistics",
      .about =
          "List runners, iterations and the names, types, shapes and statistics of the tensors,"
          " as vernier data show -v does."},
     DataShowOptionTable},
    {"inspect sparsity",
     {.command = "vernier inspect sparsity",
      .operands = "model_file [options ...]",
      .summary = "say which weights of an ONNX model are 2:4 sparse",
      .about =
          "Tell of each weight of Conv, Gemm and MatMul that could be 2:4 sparse whether it is."
          " That is information: the exit code is 0 either way."},
     SparsityOptionTable},
    {"inspect tactics",
     {.command = "vernier inspect tactics",
      .operands = "tactic_replay [options ...]",
      .summary = "show the algorithms in a tactic replay of TensorRT",
      .about =
          "List the algorithm that TensorRT chose for each layer, as --save-tactics saved it."},
     TacticReplayOptionTable},
    {"inspect diff-tactics",
     {.command = "vernier inspect diff-tactics",
      .operands = "[options ...]",
      .summary = "find algorithms that only bad engines of TensorRT used",
      .about =
          "Hold the tactic replays of engines that were good against those of engines that were"
          " bad, and list the algorithms that only the bad ones used, layer by layer."},
     DiffTacticsOptionTable},
    {"inspect capability",
     {.command = "vernier inspect capability",
      .operands = "model_file [options ...]",
      .summary = "tell which parts of an ONNX model TensorRT takes",
      .about = "Let TensorRT's ONNX parser read a model, and list what it does not take"
               " and why; with --with-partitioning the parts that it takes and those"
               " that it does not are saved as models. Needs the Python package"
               " tensorrt; without it the exit code is 5."},
     CapabilityOptionTable},
    {"surgeon extract",
     {.command = "vernier surgeon extract",
      .operands = "model_file -o FILE [options ...]",
      .summary = "cut a part out of an ONNX model",
      .about =
          "Write the part of a model between tensors as a model of its own, with its weights,"
          " operator sets, functions and the bodies of If, Loop and Scan. Weights are not read;"
          " external data may stay external (--save-external-data)."},
     ExtractOptionTable},
    {"surgeon insert",
     {.command = "vernier surgeon insert",
      .operands = "model_file --inputs NAME ... --outputs NAME ... --op OP -o FILE [options ...]",
      .summary = "put a node into an ONNX model, in the place of what is between tensors",
      .about =
          "Write the model with a new node that reads and makes tensors of the model. What made"
          " its outputs before, and all that nobody needs any more, is gone. A tensor that is"
          " input and output at once gets the node behind it: who read the tensor then reads"
          " what the node makes."},
     InsertOptionTable},
    {"surgeon prune",
     {.command = "vernier surgeon prune",
      .operands = "model_file -o FILE [options ...]",
      .summary = "make the weights of an ONNX model 2:4 sparse, to try sparsity out",
      .about = "Set the two of smallest magnitude of every four weights of Conv, Gemm and MatMul to"
               " zero. That is for trying out sparse kernels: the model's accuracy is lost."},
     WeightOptionTable},
    {"surgeon sanitize",
     {.command = "vernier surgeon sanitize",
      .operands = "model_file -o FILE [options ...]",
      .summary = "clean an ONNX model up: outputs, shapes, constants, order, unused parts",
      .about =
          "Write the model with other outputs, other shapes of its inputs, in order, without what"
          " is unused, and with everything computed that does not depend on inputs. Weights are"
          " not loaded; constants are computed by ONNX Runtime in a process of its own. Shapes"
          " are inferred by the onnx package of --python, else by rules that know fixed sizes."},
     SanitizeOptionTable},
    {"surgeon weight-reconstruct",
     {.command = "vernier surgeon weight-reconstruct",
      .operands = "model_file -o FILE [options ...]",
      .summary = "fill the weights that weight-strip took out with stand-ins",
      .about =
          "Put random values, the same each time, where weight-strip emptied initializers; those"
          " that were 2:4 sparse are sparse again."},
     WeightOptionTable},
    {"surgeon weight-strip",
     {.command = "vernier surgeon weight-strip",
      .operands = "model_file -o FILE [options ...]",
      .summary = "write an ONNX model without its weights, for engines that are refitted",
      .about =
          "Empty the weights of Conv, ConvTranspose, Gemm, MatMul, Gather, Slice and of operators"
          " that ONNX does not have, and mark them for TensorRT. Fold constants first."},
     WeightStripOptionTable},
    {"profile",
     {.command = "vernier profile",
      .operands = "[model_file] [runners ...] [options ...]",
      .summary = "measure how fast runners are, one at a time",
      .about = "Measure the latency of each runner with the others closed, over a grid of input"
               " shapes: percentiles, throughput, memory, the times of layers where the framework"
               " has them, and the noise. Outputs are compared with those of the first runner, so"
               " that what is faster but wrong is seen."},
     ProfileOptionTable},
    {"report",
     {.command = "vernier report",
      .operands = "record -o FILE [options ...]",
      .summary = "make reports of a saved record, without running anything",
      .about = "Make the reports that --report makes from what --save-record saved. The record of a"
               " run with --report FILE.html, or any record, holds all that the page shows."},
     ReportOptionTable},
    {"backends",
     {.command = "vernier backends",
      .operands = "[name ...] [options ...]",
      .summary = "list the frameworks that were found, or why they cannot be used",
      .about = "List the backends of this installation, the framework that each found, or why it"
               " cannot be used."},
     BackendsOptionTable},
    {"template trt-network",
     {.command = "vernier template trt-network",
      .operands = "[model_file] -o FILE [options ...]",
      .summary = "write a Python script that makes a TensorRT network",
      .about = "Write a script with a function load_network to be filled in, which"
               " begins with a model or with an empty network. It runs here and in"
               " Polygraphy, as model_file or --trt-network-postprocess-script."},
     TemplateNetworkOptionTable},
    {"template trt-config",
     {.command = "vernier template trt-config",
      .operands = "[model_file] -o FILE [options ...]",
      .summary = "write a Python script that makes a TensorRT builder configuration",
      .about = "Write a script with a function load_config to be filled in, which begins"
               " with the options given. It is for --trt-config-script, here and in"
               " Polygraphy."},
     TemplateConfigOptionTable},
    {"template onnx-gs",
     {.command = "vernier template onnx-gs",
      .operands = "model_file -o FILE [options ...]",
      .summary = "write a Python script that edits an ONNX model",
      .about = "Write a script that loads a model with ONNX-GraphSurgeon, with a place"
               " for edits, and saves it as MODEL_updated.onnx."},
     TemplateGraphOptionTable},
    {"template shard-hints",
     {.command = "vernier template shard-hints",
      .operands = "model_file -o FILE.json [options ...]",
      .summary = "find where a model can be cut for several devices",
      .about = "Find attention layers, and the inputs and outputs that hang on them, and"
               " write hints for multi-device shard, as Polygraphy does. Needs the"
               " Python package onnx-graphsurgeon."},
     ShardHintsOptionTable},
    {"plugin list",
     {.command = "vernier plugin list",
      .operands = "model_file --plugin-dir DIR [options ...]",
      .summary = "tell how often the patterns of plug-ins occur in a model",
      .about = "Count the subgraphs that plug-ins could replace, by the pattern.py of"
               " each. Needs the Python package onnx-graphsurgeon, as the patterns do."},
     PluginListOptionTable},
    {"plugin match",
     {.command = "vernier plugin match",
      .operands = "model_file --plugin-dir DIR [options ...]",
      .summary = "write which subgraphs plug-ins could replace",
      .about = "Write the subgraphs that plug-ins could replace, with their inputs,"
               " outputs and attributes, to config.yaml. Needs the Python packages"
               " onnx-graphsurgeon and PyYAML."},
     PluginMatchOptionTable},
    {"plugin replace",
     {.command = "vernier plugin replace",
      .operands = "model_file --plugin-dir DIR [options ...]",
      .summary = "replace subgraphs by plug-ins",
      .about = "Replace each subgraph that config.yaml lists by one node, or as the"
               " plug-in's own replace_with_plugin does. Needs the Python packages"
               " onnx-graphsurgeon and PyYAML."},
     PluginReplaceOptionTable},
    {"plugin autotune",
     {.command = "vernier plugin autotune",
      .operands = "model_file --plugin-dir DIR -o FILE [options ...]",
      .summary = "find the replacements by plug-ins that make TensorRT fastest",
      .about = "Build engines with subgraphs replaced by plug-ins, measure them, and"
               " write the fastest model. Needs an NVIDIA GPU and the Python packages"
               " tensorrt, onnx-graphsurgeon and PyYAML."},
     PluginAutotuneOptionTable},
    {"multi-device shard",
     {.command = "vernier multi-device shard",
      .operands = "model_file -o FILE (-s HINTS | --one-shot) [options ...]",
      .summary = "cut a model for several devices",
      .about = "Put DistCollective nodes of TensorRT around attention layers, inputs and"
               " outputs, or with --parallelism TP write a model for each rank with its"
               " part of the weights. Needs the Python package onnx-graphsurgeon."},
     ShardOptionTable},
    {"doctor",
     {.command = "vernier doctor",
      .operands = "[options ...]",
      .summary = "tell what is installed, found and usable, and how to get the rest",
      .about = "Look at every backend and its framework, the Python interpreter and its packages,"
               " the GPU, memory and temporary space. What is missing is told with what it would"
               " enable and the command that gets it. Exit code 0 when models can be run here and"
               " all of --require can be used, else 5."},
     DoctorOptionTable},
    {"completion",
     {.command = "vernier completion",
      .operands = "bash|zsh|fish",
      .summary = "print a completion script for a shell",
      .about = "Print a completion script for bash, zsh or fish."}},
};

}  // namespace

std::span<const CommandEntry> CommandTable() { return kCommands; }

const CommandEntry* FindCommand(std::string_view name) {
  const auto* at = std::find_if(std::begin(kCommands), std::end(kCommands),
                                [&](const CommandEntry& entry) { return entry.name == name; });
  return at == std::end(kCommands) ? nullptr : at;
}

std::string FormatCommandList(std::string_view group) {
  std::string text;
  size_t width = 0;
  for (const CommandEntry& entry : kCommands) {
    if (group.empty() || entry.Group() == group) width = std::max(width, entry.name.size());
  }
  for (const CommandEntry& entry : kCommands) {
    if (!group.empty() && entry.Group() != group) continue;
    text += "  " + std::string(entry.name) + std::string(width - entry.name.size() + 2, ' ') +
            std::string(entry.subject.summary) + "\n";
  }
  return text;
}

}  // namespace vernier
