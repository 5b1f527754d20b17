#include <memory>
#include <span>

#include "options/table/groups.h"
#include "options/table/option_values.h"
#include "options/words/arg_parser.h"
#include "util/files/mapped_file.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

// One word a line; blank lines and those that begin with "#" say nothing.
Status AddLines(const std::string& path, std::vector<std::string>& words) {
  VERNIER_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file, MappedFile::Open(path));
  const std::span<const std::byte> bytes = file->bytes();
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (!text.empty()) {
    const std::string_view line = Trim(text.substr(0, text.find('\n')));
    if (!line.empty() && line.front() != '#') words.emplace_back(line);
    const size_t end = text.find('\n');
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return file->CheckIntact();
}

Status AddMapWords(const OptionInput& input, std::vector<std::string>& words,
                   std::vector<std::string>& files) {
  for (const std::string& word : input.given.values) {
    if (word.starts_with('@')) {
      files.push_back(word.substr(1));
      VERNIER_TRY(AddLines(word.substr(1), words).Annotate(input.given.flag));
    } else {
      words.push_back(word);
    }
  }
  return {};
}

Status SetInputMaps(const OptionInput& input, InputPlan& inputs) {
  return AddMapWords(input, inputs.map_words, inputs.map_files);
}

Status SetOutputMaps(const OptionInput& input, RunPlan& plan) {
  return AddMapWords(input, plan.output_map_words, plan.inputs.map_files);
}

constexpr OptionRow kMaps[] = {
    {.flags = {"--map-inputs"},
     .dest = "map_inputs",
     .sets = SetBy<&SetInputMaps, &InputPlan::map_words>(),
     .files = FileUse::kReadsWords,
     .arity = Arity::kPlus,
     .action = OptionAction::kAppend,
     .metavar = "[RUNNER:]NAME=SOURCE",
     .help = "Feed a runner's input NAME with the tensor SOURCE of the inputs, which may be sliced"
             " as in NumPy, have its axes permuted, or both: jit:x=input[:,64:] tf:x=x@0,2,3,1."
             " RUNNER:NAME= withholds that tensor from the runner. One '*' stands for the same text"
             " in both names: 'past.*=cache_*'. @FILE reads such words from a file, one per line.",
     .origin = Origin::kOurs,
     .needs = {kAnyRunner}},
    {.flags = {"--map-outputs"},
     .dest = "map_outputs",
     .sets = SetBy<&SetOutputMaps, &RunPlan::output_map_words>(),
     .files = FileUse::kReadsWords,
     .arity = Arity::kPlus,
     .action = OptionAction::kAppend,
     .metavar = "[FIRST:[SECOND:]]NAME=SOURCE",
     .help = "Compare output NAME of the first runner with output SOURCE of the second, which may"
             " be sliced and permuted as in --map-inputs. FIRST:NAME= leaves out an output that the"
             " first has alone. One '*' stands for the same text in both names: 'present.*=cache_*'"
             " pairs all of them; 'present.*=' leaves all of them out. @FILE reads such words from"
             " a file, one per line.",
     .origin = Origin::kOurs,
     .needs = {kTwoSides}},
};

}  // namespace

OptionGroup MapGroup() {
  return {"Names", "pairing inputs and outputs that formats call differently", kMaps};
}

}  // namespace vernier
