#include "data/conversion.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "data/data_files.h"
#include "io/archive/npy.h"
#include "io/results/feed_writer.h"
#include "io/results/results_writer.h"
#include "io/results/test_data_writer.h"
#include "util/files/atomic_file.h"
#include "util/process/interruption.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// What is written: some runs of a file, as the plan says.
struct FileConversion {
  const DataConversionPlan& plan;
  const std::atomic<int>& interrupted;
  SavedKind kind = SavedKind::kInputs;
  std::unique_ptr<ResultsReader> source;
  std::vector<size_t> runs;  // of the source, those to be written
};

// The formats by their names in --format; npy and pb are no results.
enum class OtherFormat : uint8_t { kNone, kNpy, kTestData };

OtherFormat OtherFormatOf(const FileConversion& conversion) {
  if (conversion.plan.format == "npy") return OtherFormat::kNpy;
  if (conversion.plan.format == "pb") return OtherFormat::kTestData;
  const bool npy =
      conversion.plan.format.empty() && ToLower(conversion.plan.output).ends_with(".npy");
  return npy ? OtherFormat::kNpy : OtherFormat::kNone;
}

// The runs that are written, and what is written of them.
Status ChooseRuns(FileConversion& conversion, SavedKind found) {
  const std::vector<SavedRun>& runs = conversion.source->runs();
  const bool select = conversion.plan.runner && found == SavedKind::kOutputs;
  const std::vector<std::string> short_names = ShortRunnerNames(runs);
  const std::string list = FormatPythonList(short_names);
  for (size_t i = 0; i < runs.size(); ++i) {
    // Test data name no runner, and take the name.
    const bool nameless = runs[i].name.empty();
    if (!select || nameless || runs[i].name == *conversion.plan.runner ||
        short_names[i] == *conversion.plan.runner) {
      conversion.runs.push_back(i);
    }
  }
  const std::string where = "'" + conversion.plan.path + "'";
  if (select && conversion.runs.empty()) {
    return InvalidArgument("--runner: " + where + " has no runner '" + *conversion.plan.runner +
                           "'; there are " + list);
  }
  if (conversion.kind == SavedKind::kInputs && conversion.runs.size() > 1) {
    return InvalidArgument(where + " holds several runners, " + list +
                           ": name the one whose outputs become inputs with --runner");
  }
  return {};
}

Result<FileConversion> OpenConversion(const DataConversionPlan& plan,
                                      const std::atomic<int>& interrupted) {
  if (!plan.may_replace) VERNIER_TRY(CheckNotRead(plan.output, {&plan.path, 1}));
  if (plan.format.empty()) {
    VERNIER_TRY(CheckExtension(plan.output, {".json", ".npz", ".safetensors", ".npy"}));
  }
  VERNIER_ASSIGN_OR_RETURN(SavedTensors found,
                           OpenSavedTensors(plan.path, plan.kind.value_or(SavedKind::kInputs)));
  FileConversion conversion{
      plan, interrupted, plan.kind.value_or(found.kind), std::move(found.reader), {}};
  VERNIER_TRY(ChooseRuns(conversion, found.kind));
  return conversion;
}

// A result, and its place in the source.
using Sink = std::function<Status(size_t position, size_t run, size_t iteration,
                                  const IterationResult& result)>;

// Every iteration of every chosen run, one in memory at a time.
Status ForEach(const FileConversion& conversion, const Sink& sink) {
  for (size_t position = 0; position < conversion.runs.size(); ++position) {
    const size_t run = conversion.runs[position];
    for (size_t i = 0; i < conversion.source->runs()[run].iterations; ++i) {
      VERNIER_TRY(CheckInterrupted(conversion.interrupted));
      VERNIER_ASSIGN_OR_RETURN(const IterationResult result, conversion.source->Read(run, i));
      VERNIER_TRY(sink(position, run, i, result));
    }
  }
  return {};
}

Status WriteFeeds(const FileConversion& conversion, ResultsFormat format) {
  VERNIER_ASSIGN_OR_RETURN(const auto writer, FeedWriter::Create(conversion.plan.output, format));
  const Status status =
      ForEach(conversion, [&](size_t, size_t, size_t, const IterationResult& result) {
        return writer->Append(result.outputs);
      });
  return PublishOrDiscard(status, *writer);
}

Status WriteOutputs(const FileConversion& conversion, ResultsFormat format) {
  const std::vector<SavedRun>& runs = conversion.source->runs();
  std::vector<std::string> names;
  size_t longest = 0;
  for (const size_t run : conversion.runs) {
    // Nameless: inputs and test data, which --runner may name.
    const bool nameless = runs[run].name.empty() && conversion.plan.runner;
    names.push_back(nameless ? *conversion.plan.runner : RunnerNameOf(runs[run]));
    longest = std::max(longest, runs[run].iterations);
  }
  VERNIER_ASSIGN_OR_RETURN(const auto writer,
                           ResultsWriter::Create(conversion.plan.output, names, format));
  for (size_t i = 0; i < names.size(); ++i) {
    VERNIER_TRY(writer->NoteSteps(i, runs[conversion.runs[i]].steps));
  }
  const Status status =
      ForEach(conversion, [&](size_t position, size_t run, size_t i, IterationResult result) {
        if (result.runner_name.empty()) result.runner_name = names[position];
        return writer->Append(position, result, conversion.source->FeedOf(run, i));
      });
  return PublishOrDiscard(status, longest, *writer);
}

// A .npy file has no names: it is for exactly one tensor.
Status WriteOneNpy(const FileConversion& conversion) {
  std::vector<NamedTensor> all;
  const auto keep = [&](size_t, size_t, size_t, const IterationResult& result) -> Status {
    all.insert(all.end(), result.outputs.begin(), result.outputs.end());
    if (all.size() <= 1) return {};
    return InvalidArgument("-o: '" + conversion.plan.output + "' can hold one tensor, and '" +
                           conversion.plan.path +
                           "' holds more; write .npz, .safetensors or .json");
  };
  VERNIER_TRY(ForEach(conversion, keep));
  if (all.empty()) return InvalidArgument("'" + conversion.plan.path + "' holds no tensor");
  VERNIER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(conversion.plan.output));
  AtomicFileSink sink(file);
  VERNIER_TRY(WriteNpy(all.front().tensor, sink));
  return file.Commit();
}

Status WriteTestData(const FileConversion& conversion) {
  if (conversion.runs.size() > 1) {
    return InvalidArgument("ONNX test data have no runners, and '" + conversion.plan.path +
                           "' holds several: name one with --runner");
  }
  const auto part =
      conversion.kind == SavedKind::kOutputs ? TestDataPart::kOutputs : TestDataPart::kInputs;
  VERNIER_ASSIGN_OR_RETURN(TestDataWriter writer,
                           TestDataWriter::Create(conversion.plan.output, part));
  return ForEach(conversion, [&](size_t, size_t, size_t, const IterationResult& result) {
    return writer.Append(result.outputs);
  });
}

}  // namespace

Status ConvertData(const DataConversionPlan& plan, const std::atomic<int>& interrupted,
                   Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(const FileConversion conversion, OpenConversion(plan, interrupted));
  const bool outputs = conversion.kind == SavedKind::kOutputs;
  log.Info(std::string("Saving ") + (outputs ? "inference results" : "inference input data") +
           " to " + plan.output);
  // A format that was named makes a file of any path.
  const ResultsFormat format =
      ResultsFormatFromName(plan.format).value_or(ResultsFormatFor(plan.output));
  const OtherFormat other = OtherFormatOf(conversion);
  if (outputs) {
    const bool keeps = other == OtherFormat::kNone && KeepsOrigin(format);
    NoteLostOrigin(*conversion.source, conversion.runs, keeps, plan.output, log);
  }
  switch (other) {
    case OtherFormat::kNpy:
      return WriteOneNpy(conversion);
    case OtherFormat::kTestData:
      return WriteTestData(conversion);
    case OtherFormat::kNone:
      break;
  }
  return outputs ? WriteOutputs(conversion, format) : WriteFeeds(conversion, format);
}

}  // namespace vernier
