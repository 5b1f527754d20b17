// Part of a file of saved tensors: some iterations, runners or tensors.
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/command_start.h"
#include "cli/commands/interruption.h"
#include "cli/table/commands.h"
#include "data/selection.h"
#include "options/table/option_sets.h"
#include "options/table/option_values.h"
#include "options/table/parsed_args.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

Status SetRanges(const OptionInput& input, DataSelectionPlan& plan) {
  plan.iterations.clear();
  for (const std::string& word : input.given.values) {
    const size_t dash = word.find('-');
    const std::optional<int64_t> first = ParseInt(word.substr(0, dash));
    const std::optional<int64_t> last = dash == word.npos ? first : ParseInt(word.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first) {
      return InvalidArgument("--iterations: expected a number >= 0 or a range such as 2-5, got '" +
                             word + "'");
    }
    plan.iterations.push_back({static_cast<size_t>(*first), static_cast<size_t>(*last)});
  }
  return {};
}

constexpr OptionRow kSelectRows[] = {
    {.dest = "path",
     .sets = Sets<&DataSelectionPlan::path>(),
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "path",
     .help = "The file or folder to select from, in any of the formats.",
     .origin = Origin::kOurs},
    {.flags = {"-o", "--output"},
     .dest = "output",
     .sets = Sets<&DataSelectionPlan::output>(),
     .files = FileUse::kWritesThere,
     .arity = Arity::kOne,
     .required = true,
     .metavar = "FILE",
     .help = "The file to write: .npz, .safetensors, or JSON under any other name.",
     .origin = Origin::kOurs},
    {.flags = {"--iterations"},
     .dest = "iteration_ranges",
     .sets = SetBy<&SetRanges>(),
     .arity = Arity::kPlus,
     .metavar = "N[-M]",
     .help = "Keep these iterations, counted from 0, for example 0 7-9. They are numbered from 0"
             " again in the new file.",
     .origin = Origin::kOurs},
    {.flags = {"--tensors"},
     .dest = "tensor_names",
     .sets = Sets<&DataSelectionPlan::tensors>(),
     .arity = Arity::kPlus,
     .metavar = "NAME",
     .help = "Keep these tensors. Patterns (* ? [ ]) are allowed.",
     .origin = Origin::kOurs},
    {.flags = {"--runners"},
     .dest = "runner_names",
     .sets = Sets<&DataSelectionPlan::runners>(),
     .arity = Arity::kPlus,
     .metavar = "NAME",
     .help = "Keep the outputs of these runners, by their full names or by the short ones that"
             " summaries have. Patterns (* ? [ ]) are allowed.",
     .origin = Origin::kOurs},
};

Status Select(const ParsedArgs& args, const Invocation& invocation, Logger& log) {
  DataSelectionPlan plan;
  VERNIER_TRY(BindOptions(args, {.log = &log}, {plan}));
  if (plan.iterations.empty() && plan.tensors.empty() && plan.runners.empty()) {
    return InvalidArgument(
        "nothing is selected: add --iterations, --tensors or --runners, or use data convert for a"
        " copy of everything");
  }
  plan.may_replace = invocation.as_polygraphy;
  return SelectData(plan, WatchSignals(), log);
}

int DataSelectCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kDataSelectCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
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
