#include <algorithm>
#include <array>
#include <filesystem>

#include "options/table/groups.h"
#include "options/table/option_values.h"
#include "options/words/arg_parser.h"

namespace vernier {
namespace {

// In the order of JudgeRule, behind kUnsaid.
constexpr std::array<std::string_view, 3> kJudgeWords = {"elements", "decisions", "both"};

Status AddDecisions(const OptionInput& input, DecisionOptions& options) {
  for (const std::string& word : input.given.values) {
    Result<DecisionPlan> decision = ParseDecision(word);
    if (!decision.ok()) {
      return InvalidArgument(std::string(input.given.flag) + ": " + decision.status().message());
    }
    options.decisions.push_back(*std::move(decision));
  }
  return {};
}

// One time for all: [OUTPUT:]WORD.
OptionWords WordsForOutputs(const auto& items, auto word) {
  std::vector<std::string> words;
  for (const auto& item : items) {
    words.push_back(item.output.empty() ? item.*word : item.output + ":" + item.*word);
  }
  return words.empty() ? OptionWords() : OptionWords{std::move(words)};
}

OptionWords DecisionWords(const OptionRow& /*row*/, const DecisionOptions& options) {
  return WordsForOutputs(options.decisions, &DecisionPlan::text);
}

Status SetNearTie(const OptionInput& input, DecisionOptions& options) {
  return ReadValue(input, options.near_tie.emplace());
}

Status SetJudge(const OptionInput& input, DecisionOptions& options) {
  const auto* const word = std::ranges::find(kJudgeWords, TextOf(input));
  options.judge = static_cast<JudgeRule>(1 + (word - kJudgeWords.begin()));
  return {};
}

OptionWords JudgeWords(const OptionRow& row, const DecisionOptions& options) {
  if (options.judge == JudgeRule::kUnsaid) return {};
  return {{std::string(row.choices[static_cast<size_t>(options.judge) - 1])}};
}

constexpr std::string_view kDropTypes[] = {"absolute", "relative"};

// Names of outputs and files may hold colons: a file that is there is one.
Status AddLabels(const OptionInput& input, DecisionOptions& options) {
  for (const std::string& word : input.given.values) {
    std::error_code ignored;
    // So may names of what is fed.
    const size_t loader = word.starts_with("loader=") ? 0 : word.find(":loader=");
    const size_t colon = loader == 0 || std::filesystem::exists(word, ignored) ? std::string::npos
                         : loader != std::string::npos                         ? loader
                                                                               : word.rfind(':');
    LabelsPlan labels{"", word};
    if (colon != std::string::npos) labels = {word.substr(0, colon), word.substr(colon + 1)};
    if (labels.path.empty() || labels.path == "loader=") {
      return InvalidArgument(std::string(input.given.flag) +
                             ": expected [OUTPUT:]FILE, folder, loader or loader=NAME, got '" +
                             word + "'");
    }
    options.labels.push_back(std::move(labels));
  }
  return {};
}

OptionWords LabelWords(const OptionRow& /*row*/, const DecisionOptions& options) {
  return WordsForOutputs(options.labels, &LabelsPlan::path);
}

Status SetDropType(const OptionInput& input, DecisionOptions& options) {
  options.drop_type = TextOf(input) == kDropTypes[1] ? DropType::kRelative : DropType::kAbsolute;
  return {};
}

OptionWords DropTypeWords(const OptionRow& row, const DecisionOptions& options) {
  return ChoiceWords(row, static_cast<size_t>(options.drop_type));
}

constexpr OptionRow kDecisionRows[] = {
    {.flags = {"--decision"},
     .dest = "decisions",
     .sets = SetBy<&AddDecisions, &DecisionWords>(),
     .arity = Arity::kPlus,
     .action = OptionAction::kAppend,
     .metavar = "[OUTPUT:]KIND",
     .help = "Compare what the outputs decide, before --postprocess: top1, topK, threshold=X,"
             " argmax, sign, rank=K, boxes:FORMAT, ctc, embedding, regression=X or"
             " script:FILE.py[:FUNCTION], by default decide(outputs). The report says how many"
             " samples agree, and the reference's margin on the others. Without"
             " OUTPUT, the kind applies to every output that it fits.",
     .origin = Origin::kOurs,
     .needs = {kTwoSides}},
    {.flags = {"--max-flip-rate"},
     .dest = "max_flip_rate",
     .sets = SetsNumber<&DecisionOptions::max_flip_rate>(),
     .arity = Arity::kPlus,
     .metavar = "[OUTPUT:]R",
     .help =
         "Fail if more than this fraction of the samples is decided differently. OUTPUT can also"
         " be a decision, such as top1 or logits:top1. The gate is undecided if the 95 % interval"
         " of the fraction contains R; --strict then fails it.",
     .origin = Origin::kOurs,
     .needs = {"--decision"}},
    {.flags = {"--max-clear-flips"},
     .dest = "max_clear_flips",
     .sets = SetsNumber<&DecisionOptions::max_clear_flips>(),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .metavar = "N",
     .help = "Fail if more than N samples are decided differently and are not near ties. The gate"
             " is undecided if it passes only because of near ties that a wrong network could"
             " cause too (--strict then fails it), or fails only because of clear flips that a"
             " correct network could cause too.",
     .origin = Origin::kOurs,
     .needs = {"--decision"}},
    {.flags = {"--labels"},
     .dest = "labels",
     .sets = SetBy<&AddLabels, &LabelWords>(),
     .files = FileUse::kReadsByOutput,
     .arity = Arity::kPlus,
     .action = OptionAction::kAppend,
     .metavar = "[OUTPUT:]FILE",
     .help = "The right answers: a file (.npy, .npz, .jsonl, .txt; .json for boxes), 'folder'"
             " (names of image folders) or 'loader[=NAME]' (a tensor that comes with the inputs;"
             " default: label). For topK, threshold, argmax, ctc, regression and boxes. The report"
             " then has the accuracy or the errors of both sides, and whether the change is"
             " significant.",
     .origin = Origin::kOurs,
     .needs = {"--decision"}},
    {.flags = {"--class-names"},
     .dest = "class_names",
     .sets = Sets<&DecisionOptions::class_names>(),
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Names of the classes, one per line, class 0 first. The report uses them for the worst"
             " flips and IoU of topK, rank, threshold, argmax and boxes, and to spell the texts of"
             " ctc. They also match the folders and categories of --labels to classes.",
     .origin = Origin::kOurs,
     .needs = {"--decision"}},
    {.flags = {"--max-drop"},
     .dest = "max_drop",
     .sets = SetsNumber<&DecisionOptions::max_drop>(),
     .arity = Arity::kPlus,
     .metavar = "[METRIC:]X",
     .help = "Fail if the candidate's accuracy by --labels is more than X below the reference's,"
             " or its regression error more than X above. METRIC is a decision, such as top1 or"
             " logits:top1. The gate is undecided if the 95 % interval of the drop contains X;"
             " --strict then fails it.",
     .origin = Origin::kOurs,
     .needs = {"--decision"}},
    {.flags = {"--drop-type"},
     .dest = "drop_type",
     .sets = SetBy<&SetDropType, &DropTypeWords>(),
     .arity = Arity::kOne,
     .choices = kDropTypes,
     .fallback = "absolute",
     .metavar = "TYPE",
     .help = "Whether --max-drop is a difference of accuracies (absolute), or a fraction of the"
             " reference's accuracy (relative).",
     .origin = Origin::kOurs,
     .needs = {"--max-drop"}},
    {.flags = {"--near-tie"},
     .dest = "near_tie",
     .sets = SetBy<&SetNearTie, &DecisionOptions::near_tie>(kAtLeast0),
     .arity = Arity::kOne,
     .type = ValueType::kFloat,
     .metavar = "X",
     .help = "A flip is a near tie if the reference's margin is below X, and the candidate's is at"
             " most 4 X. Default: twice the error bound of --tolerance auto for the deciding"
             " values (with --max-clear-flips and an ONNX graph, even without it), otherwise two"
             " standard deviations of the noise in the sample's other values.",
     .origin = Origin::kOurs,
     .needs = {"--decision"}},
    {.flags = {"--judge"},
     .dest = "judge",
     .sets = SetBy<&SetJudge, &JudgeWords>(),
     .arity = Arity::kOne,
     .choices = kJudgeWords,
     .metavar = "WHAT",
     .help = "What determines the exit code: elements, decisions or both. Default: elements if no"
             " gate for decisions is given; otherwise decisions, and the elements of outputs"
             " without a gate; both if --rtol, --atol, --tolerance, --compare,"
             " --compare-func-script, --check-error-stat or --check-average is given as well.",
     .origin = Origin::kOurs,
     .needs = {"--decision"}},
    {.flags = {"--worst-flips"},
     .dest = "worst_flips",
     .sets = SetsNumber<&DecisionOptions::worst_flips>(),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "16",
     .metavar = "N",
     .help = "How many of the worst flips to keep: clear flips first, largest margin first.",
     .origin = Origin::kOurs,
     .needs = {"--decision"}},
};

constexpr OptionRow kJudgedDecisions[] = {
    {.flags = {"--decision"},
     .dest = "decisions",
     .sets = SetBy<&AddDecisions, &DecisionWords>(),
     .arity = Arity::kPlus,
     .action = OptionAction::kAppend,
     .metavar = "[OUTPUT:]KIND",
     .help = "Judge only these decisions of the rows, by the names that their run gave them: top1,"
             " or logits:top1. Without it, all.",
     .origin = Origin::kOurs,
     .only_selects = true},
};

constexpr OptionRow kFlipFiles[] = {
    {.flags = {"--save-flips"},
     .dest = "save_flips",
     .sets = Saves<&DecisionOptions::save_flips>(),
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "Save the inputs of the iterations with the worst flips to an .npz, .safetensors or"
             " .json file, which --load-inputs reads again, and the outputs of all runners to"
             " FILE with .outputs before its extension, which compare reads. If all sides are"
             " saved outputs, there are no inputs, and FILE holds the outputs.",
     .origin = Origin::kOurs,
     .needs = {"--decision"}},
};

constexpr OptionRow kBootstrap[] = {
    {.flags = {"--seed"},
     .dest = "seed",
     .sets = Sets<&InputPlan::seed>(),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "1",
     .metavar = "SEED",
     .help = "Seed of the bootstrap, which gives the intervals of mean IoU, of errors and of mean"
             " average precision. To reproduce a run's intervals, give that run's seed.",
     .origin = Origin::kOurs,
     .needs = {"--decision"}},
};

}  // namespace

OptionGroup BootstrapGroup() { return {"Decisions", "comparing what outputs decide", kBootstrap}; }

OptionGroup DecisionGroup() {
  return {"Decisions", "comparing what outputs decide", kDecisionRows};
}

OptionGroup JudgedDecisionGroup() {
  return {"Decisions", "comparing what outputs decide", kJudgedDecisions};
}

OptionGroup FlipFileGroup() { return {"Decisions", "comparing what outputs decide", kFlipFiles}; }

}  // namespace vernier
