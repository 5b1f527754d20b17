#include "cli/commands/batch_words.h"
#include "options/table/command_options.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "options/bind/bind_run.h"
#include "options/bind/bind_runners.h"
#include "options/bind/default_files.h"
#include "options/bind/option_use.h"
#include "options/table/command_words.h"
#include "options/table/given_field.h"
#include "options/table/option_table.h"
#include "options/words/arg_parser.h"
#include "options/words/flag_suggestion.h"
#include "run/runner/runner_kinds.h"
#include "run/runner/script_runner.h"
#include "util/text/shell_words.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPlaceholder = "{stem}", kLabelled = "runner";

// What a run writes, each to a path of its own. Caches are shared on purpose.
bool IsSaved(const OptionRow& row) {
  return IsWritten(row.Files()) && row.Files() != FileUse::kCache;
}

// A file without an extension becomes a folder as well.
std::string WithStem(const OptionRow& row, const std::string& text, const std::string& stem) {
  if (text.empty() || text == "-" || text.find(kPlaceholder) != std::string::npos) return text;
  const fs::path path(text);
  const FileUse use = row.Files();
  const bool folder = use == FileUse::kWritesInto || use == FileUse::kReplaces;
  if (folder || !path.has_extension()) return (path / stem).lexically_normal().string();
  return (path.parent_path() / (stem + "-" + path.filename().string())).string();
}

std::string Replaced(std::string text, const std::string& stem) {
  for (size_t at = text.find(kPlaceholder); at != std::string::npos;
       at = text.find(kPlaceholder, at + stem.size())) {
    text.replace(at, kPlaceholder.size(), stem);
  }
  return text;
}

// The word that holds the option's value, changed.
void PutStem(const GivenOption& given, const std::string& stem, std::vector<std::string>& words) {
  std::string& flag = words[given.position];
  const size_t equals = flag.find('=');
  const OptionRow& row = *given.row;
  if (equals != std::string::npos) {
    flag = flag.substr(0, equals + 1) + WithStem(row, flag.substr(equals + 1), stem);
  } else if (given.values.empty()) {
    if (!row.constant.empty()) flag += "=" + WithStem(row, std::string(row.constant), stem);
  } else {
    std::string& value = words[given.position + 1];
    value = WithStem(row, value, stem);
  }
}

// LABEL='BACKEND [MODEL] [OPTIONS]' with the stem in what its own options save. {stem} is replaced
// before words are quoted: stems may have blanks.
void PutStemInside(const OptionTable& table, const std::string& stem, std::string& text) {
  Result<LabelledRunner> runner = SplitRunner(text);
  if (!runner.ok()) return;
  const ParseResult parsed = ParseCommandLine(table, runner->words);
  const std::vector<std::string> before = runner->words;
  for (const GivenOption& given : parsed.args.given()) {
    if (IsSaved(*given.row)) PutStem(given, stem, runner->words);
  }
  for (std::string& word : runner->words) word = Replaced(std::move(word), stem);
  if (runner->words == before) return;
  runner->words.insert(runner->words.begin(), runner->backend);
  text = runner->label + "=" + JoinForShell(runner->words);
}

void PutStemInRunner(const OptionTable& table, const GivenOption& given, const std::string& stem,
                     std::vector<std::string>& words) {
  std::string& flag = words[given.position];
  const size_t equals = flag.find('=');
  if (equals == std::string::npos) return PutStemInside(table, stem, words[given.position + 1]);
  std::string value = flag.substr(equals + 1);
  PutStemInside(table, stem, value);
  flag = flag.substr(0, equals + 1) + value;
}

// A backend that is not there is there for no model.
Status CheckBackends(const ParsedArgs& args) {
  for (const RunnerChoice& choice : args.Runners()) {
    if (choice.kind != kLabelled || choice.value.find(kPlaceholder) != std::string::npos) continue;
    VERNIER_ASSIGN_OR_RETURN(const LabelledRunner runner, SplitRunner(choice.value));
    const bool script = IsPythonScript(runner.backend) || IsProgramPath(runner.backend);
    if (script || runner.backend == "python") continue;
    VERNIER_TRY(CheckBackendName(runner.backend, ReadField<&ExecutionPlan::backend_dirs>(args))
                    .Annotate("--runner " + runner.label));
  }
  return {};
}

std::string RecordOf(std::span<const std::string> words) {
  const OptionTable table = RunOptionTable();
  const ParseResult parsed = ParseCommandLine(table, words);
  const std::string folder = FolderOfResults(parsed.args);
  const bool is_default = !folder.empty() && !IsGiven<&SavePlan::record>(parsed.args);
  return is_default ? InFolder(folder, kDefaultRecord)
                    : ReadField<&SavePlan::record>(parsed.args, {.output_dir = folder});
}

}  // namespace

Result<RunWords> RunWordsFor(const BatchModel& model, std::span<const std::string> options) {
  const OptionTable table = RunOptionTable();
  const ParseResult parsed = ParseCommandLine(table, options);
  if (parsed.end == ParseEnd::kUsageError) return InvalidArgument(parsed.error);
  if (!parsed.unknown.empty()) {
    const std::string& word = parsed.unknown.front();
    return InvalidArgument("'" + word + "' is not an option of run" + DidYouMeanFlag(table, word));
  }
  if (parsed.end == ParseEnd::kHelp) return InvalidArgument("--help goes before --");
  if (const GivenOption* const model_word = FindGiven<&ModelPlan::path>(parsed.args)) {
    const std::string& word = model_word->values.front();
    const std::string why = word.ends_with(".onnx") ? "" : ExplainSurplus(table, options, word);
    return InvalidArgument("'" + word + "' is not an option: models are named before --" +
                           (why.empty() ? "" : "; " + why));
  }
  const UseOf whose =
      ReadField<&Leniency::lenient>(parsed.args) ? UseOf::kOwnOptions : UseOf::kAllOptions;
  VERNIER_TRY(CheckOptionUse(table, parsed.args, whose));
  VERNIER_TRY(CheckBackends(parsed.args));
  std::vector<std::string> words(options.begin(), options.end());
  for (const GivenOption& given : parsed.args.given()) {
    if (IsSaved(*given.row)) PutStem(given, model.stem, words);
    if (given.row->constant == kLabelled && given.row->action == OptionAction::kRunner) {
      PutStemInRunner(table, given, model.stem, words);
    }
  }
  for (std::string& word : words) word = Replaced(std::move(word), model.stem);
  words.insert(words.begin(), model.path);
  std::string record = RecordOf(words);
  return RunWords{std::move(words), std::move(record)};
}

}  // namespace vernier
