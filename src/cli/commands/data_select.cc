// Part of a file of saved tensors: some iterations, runners or tensors.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include "cli/commands/command_start.h"
#include "cli/commands/commands.h"
#include "cli/commands/data_files.h"
#include "cli/commands/interruption.h"
#include "cli/option_sets.h"
#include "util/fnmatch.h"
#include "util/number_text.h"

namespace vernier {
namespace {

constexpr OptionRow kSelectRows[] = {
    {.dest = "path",
     .arity = Arity::kOne,
     .metavar = "path",
     .help = "The file or folder to select from, in any of the formats.",
     .origin = Origin::kOurs},
    {.flags = {"-o", "--output"},
     .dest = "output",
     .arity = Arity::kOne,
     .required = true,
     .metavar = "FILE",
     .help = "The file to write: .npz, .safetensors, or JSON under any other name.",
     .origin = Origin::kOurs},
    {.flags = {"--iterations"},
     .dest = "iteration_ranges",
     .arity = Arity::kPlus,
     .metavar = "N[-M]",
     .help = "Keep these iterations, counted from 0, for example 0 7-9. They are numbered from 0"
             " again in the new file.",
     .origin = Origin::kOurs},
    {.flags = {"--tensors"},
     .dest = "tensor_names",
     .arity = Arity::kPlus,
     .metavar = "NAME",
     .help = "Keep these tensors. Patterns (* ? [ ]) are allowed.",
     .origin = Origin::kOurs},
    {.flags = {"--runners"},
     .dest = "runner_names",
     .arity = Arity::kPlus,
     .metavar = "NAME",
     .help = "Keep the outputs of these runners, by their names or by the short ones of summaries."
             " Patterns (* ? [ ]) are allowed.",
     .origin = Origin::kOurs},
};

struct IterationRange {
  size_t first = 0;
  size_t last = 0;  // included
};

// What is read, and what of it is kept; an empty list keeps everything.
struct FileSelection {
  std::string path;
  std::string output;
  std::vector<IterationRange> iterations;
  std::vector<std::string> tensors;
  SavedTensors source;
  std::vector<size_t> runs;  // of the source
};

Result<std::vector<IterationRange>> ParseRanges(std::span<const std::string> words) {
  std::vector<IterationRange> ranges;
  for (const std::string& word : words) {
    const size_t dash = word.find('-');
    const std::optional<int64_t> first = ParseInt(word.substr(0, dash));
    const std::optional<int64_t> last = dash == word.npos ? first : ParseInt(word.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first) {
      return InvalidArgument("--iterations: expected a number >= 0 or a range such as 2-5, got '" +
                             word + "'");
    }
    ranges.push_back({static_cast<size_t>(*first), static_cast<size_t>(*last)});
  }
  return ranges;
}

bool MatchesAny(const std::string& name, std::span<const std::string> patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return name == pattern || MatchesPattern(name, pattern);
  });
}

// The runs that are kept: each pattern has to match one.
Status KeepRunners(FileSelection& selection, std::span<const std::string> patterns) {
  const std::vector<SavedRun>& runs = selection.source.reader->runs();
  if (!patterns.empty() && selection.source.kind == SavedKind::kInputs) {
    return InvalidArgument("--runners: '" + selection.path +
                           "' holds inputs, which have no runner");
  }
  const std::vector<std::string> short_names = ShortRunnerNames(runs);
  const auto fits = [&](size_t run, std::span<const std::string> wanted) {
    return MatchesAny(RunnerNameOf(runs[run]), wanted) || MatchesAny(short_names[run], wanted);
  };
  for (size_t i = 0; i < runs.size(); ++i) {
    if (patterns.empty() || fits(i, patterns)) selection.runs.push_back(i);
  }
  for (const std::string& pattern : patterns) {
    bool found = false;
    for (const size_t run : selection.runs) found |= fits(run, {&pattern, 1});
    if (found) continue;
    return InvalidArgument("--runners: '" + selection.path + "' has no runner '" + pattern +
                           "'; there are " + FormatPythonList(short_names));
  }
  return {};
}

// Every range lies within every run that is kept.
Status CheckIterationRanges(const FileSelection& selection) {
  for (const size_t run : selection.runs) {
    const size_t count = selection.source.reader->runs()[run].iterations;
    for (const IterationRange& range : selection.iterations) {
      if (range.last < count) continue;
      return InvalidArgument("--iterations: '" + selection.path + "' has no iteration " +
                             std::to_string(range.last) + "; it has " + std::to_string(count) +
                             ", counted from 0");
    }
  }
  return {};
}

Result<FileSelection> BindSelection(const ParsedArgs& args, const Invocation& invocation) {
  if (!args.Has("iteration_ranges") && !args.Has("tensor_names") && !args.Has("runner_names")) {
    return InvalidArgument(
        "nothing is selected: add --iterations, --tensors or --runners, or use data convert for a"
        " copy of everything");
  }
  FileSelection selection;
  selection.path = std::string(*args.Value("path"));
  selection.output = std::string(*args.Value("output"));
  VERNIER_TRY(CheckNotRead(selection.output, std::span(&selection.path, 1), invocation));
  VERNIER_TRY(CheckExtension(selection.output, {".json", ".npz", ".safetensors"}));
  VERNIER_ASSIGN_OR_RETURN(selection.iterations, ParseRanges(args.List("iteration_ranges")));
  const std::span<const std::string> tensors = args.List("tensor_names");
  selection.tensors.assign(tensors.begin(), tensors.end());
  VERNIER_ASSIGN_OR_RETURN(selection.source, OpenSavedTensors(selection.path, SavedKind::kInputs));
  VERNIER_TRY(KeepRunners(selection, args.List("runner_names")));
  VERNIER_TRY(CheckIterationRanges(selection));
  return selection;
}

bool Keeps(const std::vector<IterationRange>& ranges, size_t iteration) {
  const auto holds = [&](const IterationRange& range) {
    return range.first <= iteration && iteration <= range.last;
  };
  return ranges.empty() || std::any_of(ranges.begin(), ranges.end(), holds);
}

// Leaves the selected tensors, of which every iteration has to have each.
Status KeepTensors(const FileSelection& selection, size_t iteration, TensorMap& tensors) {
  if (selection.tensors.empty()) return {};
  for (const std::string& pattern : selection.tensors) {
    const auto fits = [&](const NamedTensor& tensor) {
      return MatchesAny(tensor.name, {&pattern, 1});
    };
    if (std::any_of(tensors.begin(), tensors.end(), fits)) continue;
    return InvalidArgument("--tensors: iteration " + std::to_string(iteration) + " of '" +
                           selection.path + "' has no tensor '" + pattern + "'; it has " +
                           FormatTensorNames(tensors));
  }
  std::erase_if(tensors, [&](const NamedTensor& tensor) {
    return !MatchesAny(tensor.name, selection.tensors);
  });
  return {};
}

// Every selected iteration of every selected run, with the selected tensors. One is in memory.
using SelectedSink = std::function<Status(size_t position, const IterationResult& result)>;
Status ForEachSelected(const FileSelection& selection, const SelectedSink& sink) {
  ResultsReader& reader = *selection.source.reader;
  for (size_t position = 0; position < selection.runs.size(); ++position) {
    const size_t run = selection.runs[position];
    for (size_t i = 0; i < reader.runs()[run].iterations; ++i) {
      if (!Keeps(selection.iterations, i)) continue;
      VERNIER_TRY(CheckInterrupted());
      VERNIER_ASSIGN_OR_RETURN(IterationResult result, reader.Read(run, i));
      VERNIER_TRY(KeepTensors(selection, i, result.outputs));
      VERNIER_TRY(sink(position, result));
    }
  }
  return {};
}

Status WriteSelectedInputs(const FileSelection& selection) {
  VERNIER_ASSIGN_OR_RETURN(
      const auto writer, FeedWriter::Create(selection.output, SingleFileFormat(selection.output)));
  const Status status = ForEachSelected(selection, [&](size_t, const IterationResult& result) {
    return writer->Append(result.outputs);
  });
  return PublishOrDiscard(status, *writer);
}

Status WriteSelectedOutputs(const FileSelection& selection) {
  std::vector<std::string> names;
  for (const size_t run : selection.runs) {
    names.push_back(RunnerNameOf(selection.source.reader->runs()[run]));
  }
  VERNIER_ASSIGN_OR_RETURN(
      const auto writer,
      ResultsWriter::Create(selection.output, names, SingleFileFormat(selection.output)));
  const Status status = ForEachSelected(selection, [&](size_t position, IterationResult result) {
    if (result.runner_name.empty()) result.runner_name = names[position];
    return writer->Append(position, result);
  });
  size_t longest = 0;
  for (size_t i = 0; i < names.size(); ++i) longest = std::max(longest, writer->finished(i));
  return PublishOrDiscard(status, longest, *writer);
}

Status Select(const ParsedArgs& args, const Invocation& invocation, Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(const FileSelection selection, BindSelection(args, invocation));
  const bool outputs = selection.source.kind == SavedKind::kOutputs;
  log.Info(std::string("Saving the selected ") + (outputs ? "outputs" : "inputs") + " to " +
           selection.output);
  return outputs ? WriteSelectedOutputs(selection) : WriteSelectedInputs(selection);
}

int DataSelectCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kDataSelectCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  WatchSignals();
  return EndCommand(Select(start.args, invocation, *start.log), invocation, *start.log);
}

}  // namespace

constexpr CommandSpec kDataSelectCommand = {
    .name = "data select",
    .section = CommandSection::kData,
    .operands = "path -o FILE [--iterations N ...] [--tensors NAME ...] [--runners NAME ...]",
    .summary = "extract iterations, tensors or runners from a saved file",
    .about =
        "Write the selected part of a file of saved inputs or outputs, for example the one"
        " iteration of a long run that failed. A selection that the file does not contain is an"
        " error. One iteration is in memory at a time.",
    .options =
        [] {
          return OptionTable(
              {GeneralGroup(), LoggingGroup(),
               OptionGroup{"Selection", "what is read, kept and written", kSelectRows}});
        },
    .run = DataSelectCommand,
};

}  // namespace vernier
