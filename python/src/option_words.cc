#include "option_words.h"

#include <ctime>

#include "bindings.h"
#include "cli/bind/option_use.h"
#include "cli/table/command_table.h"
#include "cli/words/flag_suggestion.h"
#include "named_tensors.h"
#include "run/runner/runner_kinds.h"
#include "status_error.h"

namespace nb = nanobind;

namespace vernier::python {
namespace {

// dest, flags, arity, action, help, of blame, elsewhere: what the package makes keywords and words
// from.
using RowTuple =
    std::tuple<std::string, std::vector<std::string>, int, int, std::string, bool, std::string>;

std::vector<RowTuple> OptionRows(const std::string& command) {
  const CommandSpec* entry = FindCommand(command);
  if (entry == nullptr || entry->options == nullptr) {
    throw StatusError{InvalidArgument("there is no command '" + command + "' with options")};
  }
  const OptionTable table = entry->options();
  std::vector<RowTuple> rows;
  for (const OptionRow* row : table.rows()) {
    std::vector<std::string> flags;
    for (const std::string_view flag : row->AllFlags()) flags.emplace_back(flag);
    rows.emplace_back(row->dest, std::move(flags), static_cast<int>(row->arity),
                      static_cast<int>(row->action), row->help,
                      row->in_package == InPackage::kOfBlame, row->elsewhere);
  }
  return rows;
}

// Each name of a runner with its flag: "onnxrt" and "onnxruntime" have "--onnxrt".
std::vector<std::pair<std::string, std::string>> RunnerFlags() {
  std::vector<std::pair<std::string, std::string>> flags;
  for (const RunnerKind& kind : RunnerKinds()) {
    const std::string flag = "--" + std::string(kind.flag_word);
    for (const std::string_view name : {kind.flag_word, kind.backend}) {
      flags.emplace_back(name, flag);
    }
  }
  return flags;
}

using EntryTuple = std::tuple<std::string, nb::object, std::string>;
using OptionTuple = std::pair<std::string, std::vector<EntryTuple>>;

// A number of Python; nullopt for anything else, and for what has no room.
std::optional<CastValue> NumberFrom(const nb::object& value) {
  if (PyFloat_Check(value.ptr())) return CastValue{nb::cast<double>(value)};
  if (!PyLong_Check(value.ptr()) || PyBool_Check(value.ptr())) return std::nullopt;
  int beyond = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &beyond);
  return beyond == 0 ? std::optional(CastValue{WideInt{number}}) : std::nullopt;
}

Result<GivenOption> OptionFrom(const OptionTable& table, const OptionTuple& option) {
  const FlagEntry* const found = table.Find(option.first);
  if (found == nullptr) return InvalidArgument("there is no option " + option.first);
  GivenOption given{found->row, found->flag, {}, 0};
  for (const auto& [output, value, text] : option.second) {
    given.values.push_back((output.empty() ? "" : output + ":") + text);
    if (std::optional<CastValue> number = NumberFrom(value)) {
      given.entries.push_back({output, *std::move(number)});
    }
  }
  // Words among the numbers are read as words, and so are the numbers then.
  if (given.entries.size() != given.values.size()) given.entries.clear();
  return given;
}

// As a command line would have it, for records.
void AddWords(const GivenOption& given, std::vector<std::string>& words) {
  const OptionRow& row = *given.row;
  const bool one = (row.arity == Arity::kOne || row.arity == Arity::kOptional) &&
                   row.action != OptionAction::kAppend;
  const bool joined = given.values.size() == 1 && (one || given.values.front().starts_with('-'));
  words.push_back(std::string(given.flag) + (joined ? "=" + given.values.front() : ""));
  if (!joined) words.insert(words.end(), given.values.begin(), given.values.end());
}

Result<ParsedArgs> ParseWords(const std::string& command, const OptionTable& table,
                              const std::vector<std::string>& words) {
  ParseResult parsed = ParseCommandLine(table, words);
  if (parsed.end != ParseEnd::kParsed) return InvalidArgument(parsed.error);
  if (table.FindDest("runners") != nullptr) TakePluginOptions(parsed);
  if (parsed.unknown.empty()) return std::move(parsed.args);
  const std::string& word = parsed.unknown.front();
  return InvalidArgument("'" + word + "' is no option of " + command + DidYouMeanFlag(table, word));
}

Status CheckUse(const OptionTable& table, const ParsedArgs& args, size_t objects, Logger& logger) {
  const bool lenient = args.Has("lenient");
  const UseOf whose = lenient ? UseOf::kOwnOptions : UseOf::kAllOptions;
  VERNIER_TRY(CheckOptionUse(table, args, whose, objects));
  if (lenient) return {};
  for (const std::string& text : IdleOptionWarnings(table, args, objects)) logger.Warning(text);
  return {};
}

}  // namespace

Result<Words> ReadOptions(const std::string& command, const CallOptions& options, Logger& logger,
                          size_t objects) {
  const CommandSpec* entry = FindCommand(command);
  if (entry == nullptr || entry->options == nullptr) {
    return InvalidArgument("there is no command '" + command + "' with options");
  }
  const OptionTable table = entry->options();
  std::vector<std::string> words;
  std::vector<OptionTuple> given;
  for (const nb::object& option : options) {
    if (nb::isinstance<nb::str>(option)) {
      words.push_back(nb::cast<std::string>(option));
    } else {
      given.push_back(nb::cast<OptionTuple>(option));
    }
  }
  Words result;
  VERNIER_ASSIGN_OR_RETURN(result.args, ParseWords(command, table, words));
  for (const OptionTuple& tuple : given) {
    VERNIER_ASSIGN_OR_RETURN(GivenOption option, OptionFrom(table, tuple));
    AddWords(option, words);
    VERNIER_TRY(AddOption(std::move(option), result.args));
  }
  VERNIER_TRY(CheckUse(table, result.args, objects, logger));
  result.invocation.now = std::time(nullptr);
  result.invocation.command = "vernier." + command;
  result.invocation.words = {"vernier", command};
  for (std::string& word : words) {
    result.invocation.command += " " + word;
    result.invocation.words.push_back(std::move(word));
  }
  return result;
}

void BindOptions(nb::module_& module) {
  module.def("runner_flags", &RunnerFlags);
  module.def("option_rows", &OptionRows, nb::arg("command"));
}

}  // namespace vernier::python
