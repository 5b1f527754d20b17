#include "option_words.h"

#include <ctime>

#include "bindings.h"
#include "cli/command_table.h"
#include "cli/flag_suggestion.h"
#include "cli/option_use.h"
#include "named_tensors.h"
#include "status_error.h"

namespace nb = nanobind;

namespace vernier::python {
namespace {

// dest, flags, arity, action, help: what the package makes keywords and words from.
using RowTuple = std::tuple<std::string, std::vector<std::string>, int, int, std::string>;

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
                      static_cast<int>(row->action), row->help);
  }
  return rows;
}

}  // namespace

Result<Words> ParseWords(const std::string& command, std::vector<std::string> words) {
  const CommandSpec* entry = FindCommand(command);
  if (entry == nullptr || entry->options == nullptr) {
    return InvalidArgument("there is no command '" + command + "' with options");
  }
  const OptionTable table = entry->options();
  ParseResult parsed = ParseCommandLine(table, words);
  if (parsed.end != ParseEnd::kParsed) return InvalidArgument(parsed.error);
  if (table.FindDest("runners") != nullptr) TakePluginOptions(parsed);
  if (!parsed.unknown.empty()) {
    const std::optional<std::string> suggestion = SuggestFlag(table, parsed.unknown.front());
    return InvalidArgument("'" + parsed.unknown.front() + "' is no option of " + command +
                           (suggestion ? "; did you mean " + *suggestion + "?" : ""));
  }
  if (!parsed.args.Has("lenient")) {
    VERNIER_TRY(CheckOptionUse(table, parsed.args, RunnersGiven::kElsewhereToo));
  }
  Words result;
  result.invocation.command = "vernier." + command;
  result.invocation.now = std::time(nullptr);
  result.invocation.words = {"vernier", command};
  for (const std::string& word : words) {
    result.invocation.command += " " + word;
    result.invocation.words.push_back(word);
  }
  result.words = std::move(words);
  result.args = std::move(parsed.args);
  return result;
}

void BindOptions(nb::module_& module) {
  module.def("option_rows", &OptionRows, nb::arg("command"));
}

}  // namespace vernier::python
