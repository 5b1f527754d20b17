#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "cli/commands/command_start.h"
#include "cli/commands/commands.h"
#include "cli/commands/data_files.h"
#include "cli/commands/interruption.h"
#include "cli/option_sets.h"
#include "io/archive/npy.h"
#include "io/results/feed_writer.h"
#include "io/results/results_writer.h"
#include "io/test_data/test_data_writer.h"
#include "util/atomic_file.h"
#include "util/number_text.h"

namespace vernier {
namespace {

// What is asked for: a source, a form, and what the tensors are to be.
struct FileConversion {
  std::string path;
  std::string output;
  std::string format;  // --format; empty: the path tells
  SavedKind kind = SavedKind::kInputs;
  std::optional<std::string> runner;
  std::unique_ptr<ResultsReader> source;
  std::vector<size_t> runs;  // of the source, those to be written
};

// The formats by their names in --format; npy and pb are no results.
enum class OtherFormat : uint8_t { kNone, kNpy, kTestData };

OtherFormat OtherFormatOf(const FileConversion& conversion) {
  if (conversion.format == "npy") return OtherFormat::kNpy;
  if (conversion.format == "pb") return OtherFormat::kTestData;
  const bool npy = conversion.format.empty() && ToLower(conversion.output).ends_with(".npy");
  return npy ? OtherFormat::kNpy : OtherFormat::kNone;
}

// The runs that are written, and what is written of them.
Status ChooseRuns(FileConversion& conversion, SavedKind found) {
  const std::vector<SavedRun>& runs = conversion.source->runs();
  const bool select = conversion.runner && found == SavedKind::kOutputs;
  const std::vector<std::string> short_names = ShortRunnerNames(runs);
  const std::string list = FormatPythonList(short_names);
  for (size_t i = 0; i < runs.size(); ++i) {
    // Test data name no runner, and take the name.
    const bool nameless = runs[i].name.empty();
    if (!select || nameless || runs[i].name == *conversion.runner ||
        short_names[i] == *conversion.runner) {
      conversion.runs.push_back(i);
    }
  }
  const std::string where = "'" + conversion.path + "'";
  if (select && conversion.runs.empty()) {
    return InvalidArgument("--runner: " + where + " has no runner '" + *conversion.runner +
                           "'; there are " + list);
  }
  if (conversion.kind == SavedKind::kInputs && conversion.runs.size() > 1) {
    return InvalidArgument(where + " holds several runners, " + list +
                           ": name the one whose outputs become inputs with --runner");
  }
  return {};
}

Result<FileConversion> Bind(const ParsedArgs& args, const Invocation& invocation) {
  FileConversion conversion;
  conversion.path = std::string(*args.Value("path"));
  conversion.output = std::string(*args.Value("output"));
  VERNIER_TRY(CheckNotRead(conversion.output, std::span(&conversion.path, 1), invocation));
  conversion.format = std::string(args.Value("format").value_or(""));
  if (conversion.format.empty()) {
    VERNIER_TRY(CheckExtension(conversion.output, {".json", ".npz", ".safetensors", ".npy"}));
  }
  if (const auto runner = args.Value("runner")) conversion.runner = std::string(*runner);
  const auto kind = args.Value("kind");
  const bool want_outputs = kind == "outputs";
  VERNIER_ASSIGN_OR_RETURN(
      SavedTensors found,
      OpenSavedTensors(conversion.path, want_outputs ? SavedKind::kOutputs : SavedKind::kInputs));
  conversion.source = std::move(found.reader);
  conversion.kind = !kind ? found.kind : want_outputs ? SavedKind::kOutputs : SavedKind::kInputs;
  VERNIER_TRY(ChooseRuns(conversion, found.kind));
  return conversion;
}

using Sink = std::function<Status(size_t position, const IterationResult& result)>;

// Every iteration of every chosen run, one in memory at a time.
Status ForEach(const FileConversion& conversion, const Sink& sink) {
  for (size_t position = 0; position < conversion.runs.size(); ++position) {
    const size_t run = conversion.runs[position];
    for (size_t i = 0; i < conversion.source->runs()[run].iterations; ++i) {
      VERNIER_TRY(CheckInterrupted());
      VERNIER_ASSIGN_OR_RETURN(const IterationResult result, conversion.source->Read(run, i));
      VERNIER_TRY(sink(position, result));
    }
  }
  return {};
}

Status WriteFeeds(const FileConversion& conversion, ResultsFormat format) {
  VERNIER_ASSIGN_OR_RETURN(const auto writer, FeedWriter::Create(conversion.output, format));
  const Status status = ForEach(conversion, [&](size_t, const IterationResult& result) {
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
    const bool nameless = runs[run].name.empty() && conversion.runner;
    names.push_back(nameless ? *conversion.runner : RunnerNameOf(runs[run]));
    longest = std::max(longest, runs[run].iterations);
  }
  VERNIER_ASSIGN_OR_RETURN(const auto writer,
                           ResultsWriter::Create(conversion.output, names, format));
  const Status status = ForEach(conversion, [&](size_t position, IterationResult result) {
    if (result.runner_name.empty()) result.runner_name = names[position];
    return writer->Append(position, result);
  });
  return PublishOrDiscard(status, longest, *writer);
}

// A .npy file has no names: it is for exactly one tensor.
Status WriteOneNpy(const FileConversion& conversion) {
  std::vector<NamedTensor> all;
  Status status = ForEach(conversion, [&](size_t, const IterationResult& result) -> Status {
    all.insert(all.end(), result.outputs.begin(), result.outputs.end());
    if (all.size() <= 1) return {};
    return InvalidArgument("-o: '" + conversion.output + "' can hold one tensor, and '" +
                           conversion.path + "' holds more; write .npz, .safetensors or .json");
  });
  VERNIER_TRY(status);
  if (all.empty()) return InvalidArgument("'" + conversion.path + "' holds no tensor");
  VERNIER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(conversion.output));
  AtomicFileSink sink(file);
  VERNIER_TRY(WriteNpy(all.front().tensor, sink));
  return file.Commit();
}

Status WriteTestData(const FileConversion& conversion) {
  if (conversion.runs.size() > 1) {
    return InvalidArgument("ONNX test data have no runners, and '" + conversion.path +
                           "' holds several: name one with --runner");
  }
  const auto part =
      conversion.kind == SavedKind::kOutputs ? TestDataPart::kOutputs : TestDataPart::kInputs;
  VERNIER_ASSIGN_OR_RETURN(TestDataWriter writer, TestDataWriter::Create(conversion.output, part));
  return ForEach(conversion, [&](size_t, const IterationResult& result) {
    return writer.Append(result.outputs);
  });
}

Status Convert(const ParsedArgs& args, const Invocation& invocation, Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(const FileConversion conversion, Bind(args, invocation));
  const bool outputs = conversion.kind == SavedKind::kOutputs;
  log.Info(std::string("Saving ") + (outputs ? "inference results" : "inference input data") +
           " to " + conversion.output);
  switch (OtherFormatOf(conversion)) {
    case OtherFormat::kNpy:
      return WriteOneNpy(conversion);
    case OtherFormat::kTestData:
      return WriteTestData(conversion);
    case OtherFormat::kNone:
      break;
  }
  // A format that was named makes a file of any path.
  const ResultsFormat format =
      ResultsFormatFromName(conversion.format).value_or(ResultsFormatFor(conversion.output));
  return outputs ? WriteOutputs(conversion, format) : WriteFeeds(conversion, format);
}

int DataConvertCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kDataConvertCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  WatchSignals();
  return EndCommand(Convert(start.args, invocation, *start.log), invocation, *start.log);
}

}  // namespace

constexpr CommandSpec kDataConvertCommand = {
    .name = "data convert",
    .section = CommandSection::kData,
    .operands = "path -o PATH [options ...]",
    .summary = "convert saved inputs or outputs to another format",
    .about =
        "Write the contents of a file in another format, with one iteration in memory at a time.",
    .options =
        [] {
          return OptionTable({GeneralGroup(), LoggingGroup(), DataConvertGroup()});
        },
    .run = DataConvertCommand,
};

}  // namespace vernier
