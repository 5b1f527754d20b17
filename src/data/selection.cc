#include "data/selection.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include "data/data_files.h"
#include "run/saved/step_feeding.h"
#include "util/process/interruption.h"
#include "util/text/fnmatch.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// What is read, and what of it is kept.
struct FileSelection {
  const DataSelectionPlan& plan;
  const std::atomic<int>& interrupted;
  SavedTensors source;
  std::vector<size_t> runs = {};  // of the source
};

bool MatchesAny(const std::string& name, std::span<const std::string> patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return name == pattern || MatchesPattern(name, pattern);
  });
}

// The runs that are kept: each pattern has to match one.
Status KeepRunners(FileSelection& selection, std::span<const std::string> patterns) {
  const std::vector<SavedRun>& runs = selection.source.reader->runs();
  if (!patterns.empty() && selection.source.kind == SavedKind::kInputs) {
    return InvalidArgument("--runners: '" + selection.plan.path +
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
    return InvalidArgument("--runners: '" + selection.plan.path + "' has no runner '" + pattern +
                           "'; there are " + FormatPythonList(short_names));
  }
  return {};
}

// Every range lies within every run that is kept.
Status CheckIterationRanges(const FileSelection& selection) {
  for (const size_t run : selection.runs) {
    const size_t count = selection.source.reader->runs()[run].iterations;
    for (const IterationRange& range : selection.plan.iterations) {
      if (range.last < count) continue;
      return InvalidArgument("--iterations: '" + selection.plan.path + "' has no iteration " +
                             std::to_string(range.last) + "; it has " + std::to_string(count) +
                             ", counted from 0");
    }
  }
  return {};
}

Result<FileSelection> OpenSelection(const DataSelectionPlan& plan,
                                    const std::atomic<int>& interrupted) {
  if (!plan.may_replace) VERNIER_TRY(CheckNotRead(plan.output, {&plan.path, 1}));
  VERNIER_TRY(CheckExtension(plan.output, {".json", ".npz", ".safetensors"}));
  VERNIER_ASSIGN_OR_RETURN(SavedTensors source, OpenSavedTensors(plan.path, SavedKind::kInputs));
  FileSelection selection{plan, interrupted, std::move(source)};
  VERNIER_TRY(KeepRunners(selection, plan.runners));
  VERNIER_TRY(CheckIterationRanges(selection));
  return selection;
}

bool Keeps(const std::vector<IterationRange>& ranges, size_t iteration) {
  const auto holds = [&](const IterationRange& range) {
    return range.first <= iteration && iteration <= range.last;
  };
  return ranges.empty() || std::any_of(ranges.begin(), ranges.end(), holds);
}

// Of a decoding, the logits: they say where tokens diverge, from where on nothing is compared.
// Empty: all tensors are kept, or they are among those that are, or it is none.
std::string LogitsToKeep(const FileSelection& selection, size_t run) {
  const std::vector<std::string>& patterns = selection.plan.tensors;
  const SavedFeeding feeding = ReadFeeding(selection.source.reader->runs()[run].steps);
  const bool wanted = !patterns.empty() && feeding.tokens && feeding.plan.decodes();
  if (!wanted || MatchesAny(feeding.tokens->logits, patterns)) return "";
  return feeding.tokens->logits;
}

// Leaves the selected tensors, of which every iteration has to have each, and `also`.
Status KeepTensors(const FileSelection& selection, size_t iteration, const std::string& also,
                   TensorMap& tensors) {
  if (selection.plan.tensors.empty()) return {};
  for (const std::string& pattern : selection.plan.tensors) {
    const auto fits = [&](const NamedTensor& tensor) {
      return MatchesAny(tensor.name, {&pattern, 1});
    };
    if (std::any_of(tensors.begin(), tensors.end(), fits)) continue;
    return InvalidArgument("--tensors: iteration " + std::to_string(iteration) + " of '" +
                           selection.plan.path + "' has no tensor '" + pattern + "'; it has " +
                           FormatTensorNames(tensors));
  }
  std::erase_if(tensors, [&](const NamedTensor& tensor) {
    return tensor.name != also && !MatchesAny(tensor.name, selection.plan.tensors);
  });
  return {};
}

// Every selected iteration of every selected run, with the selected tensors. One is in memory.
using SelectedSink =
    std::function<Status(size_t position, size_t iteration, const IterationResult& result)>;
Status ForEachSelected(const FileSelection& selection, const SelectedSink& sink) {
  ResultsReader& reader = *selection.source.reader;
  for (size_t position = 0; position < selection.runs.size(); ++position) {
    const size_t run = selection.runs[position];
    const std::string also = LogitsToKeep(selection, run);
    for (size_t i = 0; i < reader.runs()[run].iterations; ++i) {
      if (!Keeps(selection.plan.iterations, i)) continue;
      VERNIER_TRY(CheckInterrupted(selection.interrupted));
      VERNIER_ASSIGN_OR_RETURN(IterationResult result, reader.Read(run, i));
      VERNIER_TRY(KeepTensors(selection, i, also, result.outputs));
      VERNIER_TRY(sink(position, i, result));
    }
  }
  return {};
}

Status WriteSelectedInputs(const FileSelection& selection) {
  VERNIER_ASSIGN_OR_RETURN(
      const auto writer,
      FeedWriter::Create(selection.plan.output, SingleFileFormat(selection.plan.output)));
  const Status status =
      ForEachSelected(selection, [&](size_t, size_t, const IterationResult& result) {
        return writer->Append(result.outputs);
      });
  return PublishOrDiscard(status, *writer);
}

// How the steps of what is kept were fed. Where it has a step without the one before it, its
// iterations are no longer the first ones of sequences.
std::string StepsOfSelected(const FileSelection& selection, size_t run) {
  const ResultsReader& reader = *selection.source.reader;
  const SavedRun& saved = reader.runs()[run];
  std::vector<size_t> kept;
  bool in_sequence = false;
  for (size_t i = 0; i < saved.iterations; ++i) {
    if (!Keeps(selection.plan.iterations, i)) continue;
    const bool follows = i == 0 || (!kept.empty() && kept.back() + 1 == i);
    const auto feed = reader.FeedOf(run, i);
    in_sequence |= !follows && (!feed || feed == reader.FeedOf(run, i - 1));
    kept.push_back(i);
  }
  return FeedingOfIterations(saved.steps, kept, in_sequence);
}

Status WriteSelectedOutputs(const FileSelection& selection) {
  std::vector<std::string> names;
  for (const size_t run : selection.runs) {
    names.push_back(RunnerNameOf(selection.source.reader->runs()[run]));
  }
  VERNIER_ASSIGN_OR_RETURN(
      const auto writer,
      ResultsWriter::Create(selection.plan.output, names, SingleFileFormat(selection.plan.output)));
  for (size_t i = 0; i < names.size(); ++i) {
    VERNIER_TRY(writer->NoteSteps(i, StepsOfSelected(selection, selection.runs[i])));
  }
  const Status status =
      ForEachSelected(selection, [&](size_t position, size_t i, IterationResult result) {
        if (result.runner_name.empty()) result.runner_name = names[position];
        const auto feed = selection.source.reader->FeedOf(selection.runs[position], i);
        return writer->Append(position, result, feed);
      });
  size_t longest = 0;
  for (size_t i = 0; i < names.size(); ++i) longest = std::max(longest, writer->finished(i));
  return PublishOrDiscard(status, longest, *writer);
}

}  // namespace

Status SelectData(const DataSelectionPlan& plan, const std::atomic<int>& interrupted, Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(const FileSelection selection, OpenSelection(plan, interrupted));
  const bool outputs = selection.source.kind == SavedKind::kOutputs;
  log.Info(std::string("Saving the selected ") + (outputs ? "outputs" : "inputs") + " to " +
           plan.output);
  if (outputs) {
    const bool keeps = KeepsOrigin(SingleFileFormat(plan.output));
    NoteLostOrigin(*selection.source.reader, selection.runs, keeps, plan.output, log);
    for (const size_t run : selection.runs) {
      const std::string also = LogitsToKeep(selection, run);
      if (also.empty()) continue;
      log.Once(Severity::kInfo, "'" + also + "' is kept, too: it shows where tokens diverge");
    }
  }
  return outputs ? WriteSelectedOutputs(selection) : WriteSelectedInputs(selection);
}

}  // namespace vernier
