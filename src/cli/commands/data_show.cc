#include <algorithm>
#include <limits>
#include <span>

#include "cli/commands/command_start.h"
#include "cli/commands/print_document.h"
#include "cli/table/commands.h"
#include "data/data_files.h"
#include "io/bytes/byte_sink.h"
#include "io/bytes/directory_listing.h"
#include "options/table/command_words.h"
#include "options/table/document_format.h"
#include "options/table/option_sets.h"
#include "options/table/option_values.h"
#include "report/files/accuracy_file.h"
#include "report/models/model_json.h"
#include "report/text/saved_text.h"
#include "run/feeds/shard_names.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

struct Shown {
  std::string path;
  bool all = false, json = false;
  bool in_polygraphy_words = false;  // whose nouns are plurals, whatever the number
  SavedTextOptions text;
};

// -1 is "no limit".
Result<int64_t> LimitOf(const OptionInput& input) {
  int64_t value = 0;
  VERNIER_TRY(ReadValue(input, value));
  constexpr int64_t kNoLimit = std::numeric_limits<int32_t>::max();
  if (value == -1) return kNoLimit;
  if (value >= 1) return std::min(value, kNoLimit);
  return InvalidArgument(std::string(input.given.flag) + ": expected -1 or a number >= 1, got '" +
                         std::to_string(value) + "'");
}

Status SetItems(const OptionInput& input, SavedTextOptions& text) {
  VERNIER_ASSIGN_OR_RETURN(text.print.edge_items, LimitOf(input));
  return {};
}

Status SetWidth(const OptionInput& input, SavedTextOptions& text) {
  VERNIER_ASSIGN_OR_RETURN(const int64_t width, LimitOf(input));
  text.print.line_width = static_cast<size_t>(width);
  return {};
}

constexpr OptionRow kShow[] = {
    {.dest = "path",
     .sets = Sets<&Shown::path>(),
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "path",
     .help = "A file or folder of saved inputs, outputs or accuracy results."},
    {.flags = {"-a", "--all"},
     .dest = "all",
     .sets = Sets<&Shown::all>(),
     .help = "Show all iterations, not only the first."},
    {.flags = {"-s", "--show-values"},
     .dest = "show_values",
     .sets = Sets<&SavedTextOptions::values>(),
     .help = "Show the values."},
    {.flags = {"--histogram"},
     .dest = "histogram",
     .sets = Sets<&SavedTextOptions::histogram>(),
     .help = "Show how the values are distributed."},
    {.flags = {"-n", "--num-items"},
     .dest = "num_items",
     .sets = SetBy<&SetItems>(),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "3",
     .metavar = "NUM",
     .help = "How many values to show at each end of an axis, in arrays of more than 1000 elements;"
             " -1 shows all."},
    {.flags = {"--line-width"},
     .dest = "line_width",
     .sets = SetBy<&SetWidth>(),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "75",
     .metavar = "NUM",
     .help = "Characters in a line of values; -1 breaks lines only at the ends of axes."},
    DocumentFormatRow(
        "json: runners, iterations and tensors with their statistics as one JSON document"
        " on stdout, and nothing else."),
};

OptionGroup DataShowGroup() { return {"What is shown", "how much is shown", kShow}; }

Result<Shown> Bind(const ParsedArgs& args) {
  Shown shown;
  VERNIER_TRY(BindOptions(args, {}, {shown, shown.text}));
  shown.json = WantsDocument(args);
  if (shown.json && (shown.text.values || shown.text.histogram)) {
    return InvalidArgument(
        "--format json: values and histograms are not in it; vernier data convert writes values");
  }
  return shown;
}

Result<std::string> FormatRun(ResultsReader& reader, size_t run, const Shown& shown) {
  std::string text;
  const size_t iterations = reader.runs()[run].iterations;
  for (size_t i = 0; i < iterations && (i == 0 || shown.all); ++i) {
    VERNIER_ASSIGN_OR_RETURN(const IterationResult result, reader.Read(run, i));
    const bool titled = iterations > 1 && shown.all;
    if (titled) text += FormatIterationTitle(i);
    text += FormatSavedTensors(result.outputs, shown.text, titled ? 1 : 0);
    if (titled) text += "\n";
  }
  return text;
}

std::string CountOf(size_t number, std::string_view noun, const Shown& shown) {
  const std::string plural = std::to_string(number) + " " + std::string(noun) + "s";
  return shown.in_polygraphy_words ? plural : Counted(number, noun);
}

Result<std::string> FormatTensors(SavedTensors& saved, const Shown& shown) {
  const std::vector<SavedRun>& runs = saved.reader->runs();
  if (saved.kind == SavedKind::kInputs) {
    VERNIER_ASSIGN_OR_RETURN(const std::string text, FormatRun(*saved.reader, 0, shown));
    return "==== Data (" + CountOf(runs[0].iterations, "iteration", shown) + ") ====\n" + text;
  }
  std::string text = "==== Run Results (" + CountOf(runs.size(), "runner", shown) + ") ====\n\n";
  size_t width = 0;
  for (const SavedRun& run : runs) width = std::max(width, RunnerNameOf(run).size());
  for (size_t i = 0; i < runs.size(); ++i) {
    std::string name = RunnerNameOf(runs[i]);
    name.resize(width, ' ');
    VERNIER_ASSIGN_OR_RETURN(const std::string tensors, FormatRun(*saved.reader, i, shown));
    text += "---- " + name + " (" + CountOf(runs[i].iterations, "iteration", shown) + ") ----\n" +
            tensors + "\n";
  }
  return text;
}

// The same as JSON: runners are null for files of inputs.
Status ShowJson(const Shown& shown) {
  const std::string& path = shown.path;
  if (!IsDirectory(path) && LooksLikeAccuracyResults(path)) {
    return Unimplemented("--format json: '" + path +
                         "' holds accuracy results, and is a JSON document already");
  }
  VERNIER_ASSIGN_OR_RETURN(SavedTensors saved, OpenSavedTensors(path, SavedKind::kOutputs));
  StringSink sink;
  JsonWriter writer(sink);
  writer.BeginArray();
  for (size_t run = 0; run < saved.reader->runs().size(); ++run) {
    const SavedRun& described = saved.reader->runs()[run];
    writer.BeginObject();
    writer.Key("runner");
    if (saved.kind == SavedKind::kInputs) {
      writer.Null();
    } else {
      writer.String(RunnerNameOf(described));
    }
    writer.Key("iteration_count");
    writer.Integer(static_cast<int64_t>(described.iterations));
    writer.Key("iterations");
    writer.BeginArray();
    for (size_t i = 0; i < described.iterations && (i == 0 || shown.all); ++i) {
      VERNIER_ASSIGN_OR_RETURN(const IterationResult result, saved.reader->Read(run, i));
      WriteTensorsJson(result.outputs, writer);
    }
    writer.EndArray();
    writer.EndObject();
  }
  writer.EndArray();
  VERNIER_TRY(writer.Finish());
  return PrintDocument(sink.text());
}

Status Show(const Shown& shown, Logger& log) {
  const std::string& path = shown.path;
  if (!shown.in_polygraphy_words) {
    const Status shards = CheckFoldersOfShards(std::span(&path, 1));
    if (!shards.ok()) log.Warning(shards.message());
  }
  if (shown.json) return ShowJson(shown);
  std::string text;
  if (!IsDirectory(path) && LooksLikeAccuracyResults(path)) {
    VERNIER_ASSIGN_OR_RETURN(const AccuracyResults results, ReadAccuracyResults(path));
    text = FormatSavedAccuracy(results, shown.all);
  } else {
    VERNIER_ASSIGN_OR_RETURN(SavedTensors saved, OpenSavedTensors(path, SavedKind::kOutputs));
    VERNIER_ASSIGN_OR_RETURN(text, FormatTensors(saved, shown));
  }
  log.Info(Trim(text));
  return {};
}

int ShowWith(const CommandStart& start, const Invocation& invocation, bool statistics,
             bool in_polygraphy_words) {
  Result<Shown> shown = Bind(start.args);
  if (!shown.ok()) return EndCommand(shown.status(), invocation, *start.log);
  shown->text.statistics = statistics;
  shown->in_polygraphy_words = in_polygraphy_words;
  return EndCommand(Show(*shown, *start.log), invocation, *start.log);
}

int DataShowCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kDataShowCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  return ShowWith(start, invocation, ReadWords<LogWords>(start.args).louder > 0,
                  invocation.as_polygraphy);
}

int InspectDataCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kInspectDataCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  return ShowWith(start, invocation, true, true);
}

}  // namespace

constexpr CommandSpec kDataShowCommand = {
    .name = "data show",
    .section = CommandSection::kData,
    .operands = "path [options ...]",
    .summary = "show the contents of a file of saved inputs or outputs",
    .about =
        "List runners, iterations and the names, types and shapes of the tensors; with -v also"
        " their statistics.",
    .options =
        [] {
          return OptionTable({GeneralGroup(), LoggingGroup(), DataShowGroup()});
        },
    .run = DataShowCommand,
};

constexpr CommandSpec kInspectDataCommand = {
    .name = "inspect data",
    .section = CommandSection::kData,
    .operands = "path [options ...]",
    .summary = "show the contents of a file of saved inputs or outputs, with statistics",
    .about =
        "List runners, iterations and the names, types, shapes and statistics of the tensors, as"
        " vernier data show -v does.",
    .options =
        [] {
          return OptionTable({GeneralGroup(), LoggingGroup(), DataShowGroup()});
        },
    .run = InspectDataCommand,
};

}  // namespace vernier
