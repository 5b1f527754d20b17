#include "option_words.h"

#include <ctime>

#include "bindings.h"
#include "named_tensors.h"
#include "options/bind/option_use.h"
#include "options/table/command_options.h"
#include "options/table/command_words.h"
#include "options/table/given_field.h"
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
  const OptionTable table = Check(OptionsOf(command));
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

// A number of Python; nullopt for anything else, and for what has no room.
std::optional<CastValue> NumberFrom(const nb::object& value) {
  if (PyFloat_Check(value.ptr())) return CastValue{nb::cast<double>(value)};
  if (!PyLong_Check(value.ptr()) || PyBool_Check(value.ptr())) return std::nullopt;
  int beyond = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &beyond);
  return beyond == 0 ? std::optional(CastValue{WideInt{number}}) : std::nullopt;
}

Result<GivenOption> OptionFrom(const OptionTable& table, const std::string& name,
                               const std::vector<OptionValue>& values) {
  const FlagEntry* const found = table.Find(name);
  const OptionRow* const row = found != nullptr ? found->row : table.FindDest(name);
  if (row == nullptr || (found == nullptr && !row->IsPositional())) {
    return InvalidArgument("there is no option " + name);
  }
  GivenOption given{row, found != nullptr ? found->flag : "", {}, 0};
  for (const auto& [output, value, text] : values) {
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
  if (row.IsPositional()) {
    words.insert(words.end(), given.values.begin(), given.values.end());
    return;
  }
  const bool one = (row.arity == Arity::kOne || row.arity == Arity::kOptional) &&
                   row.action == OptionAction::kStore;
  const bool joined = given.values.size() == 1 && (one || given.values.front().starts_with('-'));
  words.push_back(std::string(given.flag) + (joined ? "=" + given.values.front() : ""));
  if (!joined) words.insert(words.end(), given.values.begin(), given.values.end());
}

Status CheckUse(const OptionTable& table, const ParsedArgs& args, size_t objects, Logger& logger) {
  const bool lenient = ReadField<&Leniency::lenient>(args);
  const UseOf whose = lenient ? UseOf::kOwnOptions : UseOf::kAllOptions;
  VERNIER_TRY(CheckOptionUse(table, args, whose, objects));
  if (lenient) return {};
  for (const std::string& text : IdleOptionWarnings(table, args, objects)) logger.Warning(text);
  return {};
}

}  // namespace

Result<Words> ReadOptions(const std::string& command, const CallOptions& options, Logger& logger,
                          size_t objects) {
  VERNIER_ASSIGN_OR_RETURN(const OptionTable table, OptionsOf(command));
  Words result;
  std::vector<std::string> words;
  for (const auto& [name, values] : options) {
    VERNIER_ASSIGN_OR_RETURN(GivenOption option, OptionFrom(table, name, values));
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
