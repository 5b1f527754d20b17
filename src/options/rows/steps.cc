#include <algorithm>

#include "options/table/groups.h"
#include "options/table/option_values.h"

namespace vernier {
namespace {

Status SetStateSource(const OptionInput& input, StepPlan& steps) {
  const auto* const name = std::ranges::find(kStateSourceNames, TextOf(input));
  steps.state = static_cast<StateSource>(name - kStateSourceNames.begin());
  return {};
}

OptionWords StateSourceWords(const OptionRow& row, const StepPlan& steps) {
  return ChoiceWords(row, static_cast<size_t>(steps.state));
}

Status SetMinTokenAgreement(const OptionInput& input, StepPlan& steps) {
  return ReadValue(input, steps.min_token_agreement.emplace());
}

constexpr OptionRow kStepRows[] = {
    {.flags = {"--steps"},
     .dest = "steps",
     .sets = Sets<&StepPlan::steps>(kAtLeast1),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .metavar = "NUM",
     .help = "Turn each set of inputs into a sequence of NUM steps; each step is an iteration."
             " Without it, a sequence has as many steps as --step-slice finds in the inputs.",
     .origin = Origin::kOurs,
     .needs = {kAnyRunner}},
    {.flags = {"--feed-back"},
     .dest = "feed_back",
     .sets = Sets<&StepPlan::feed_back>(),
     .arity = Arity::kPlus,
     .action = OptionAction::kAppend,
     .metavar = "[RUNNER:]OUTPUT:INPUT",
     .help = "Feed a runner's OUTPUT of one step as its INPUT of the next, for example"
             " stateN:state 'present.*:past_key_values.*', or auto, which pairs them by type,"
             " shape and name.",
     .origin = Origin::kOurs,
     .needs = {kAnyRunner}},
    {.flags = {"--initial-state"},
     .dest = "initial_state",
     .sets = Sets<&StepPlan::initial_state>(),
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "A file of inputs that holds the state for the first step of each sequence. Without"
             " it, the state comes from --load-inputs or the data loader script, or is zero.",
     .origin = Origin::kOurs,
     .needs = {"--feed-back"}},
    {.flags = {"--step-slice"},
     .dest = "step_slice",
     .sets = Sets<&StepPlan::slices>(),
     .arity = Arity::kPlus,
     .action = OptionAction::kAppend,
     .metavar = "[RUNNER:]INPUT:axis=N,...",
     .help = "Feed each step its slice of an input that holds a whole sequence:"
             " input:axis=1,size=576,hop=512,pad=64 pads the start with 64 zeros and takes windows"
             " of 576 elements, each 512 further on. size= defaults to the size that the model"
             " declares, hop= to size minus pad.",
     .origin = Origin::kOurs,
     .needs = {kAnyRunner}},
    {.flags = {"--advance"},
     .dest = "advance",
     .sets = Sets<&StepPlan::advances>(),
     .arity = Arity::kPlus,
     .action = OptionAction::kAppend,
     .metavar = "INPUT:+N",
     .help = "Change an input from step to step: position_ids:+1 and sigma:-0.02 add to it;"
             " 'attention_mask:append 1' extends its last axis by one element, and 'append 1*3' by"
             " three; 'use_cache_branch:set 1' sets it from the second step on.",
     .origin = Origin::kOurs,
     .needs = {kAnyRunner}},
    {.flags = {"--steps-axis"},
     .dest = "steps_axis",
     .sets = Sets<&StepPlan::axes>(),
     .arity = Arity::kPlus,
     .action = OptionAction::kAppend,
     .metavar = "RUNNER:AXIS",
     .help = "Feed this runner all steps of a sequence in one inference, joined along AXIS, and"
             " compare the slices of its outputs along AXIS with the other runners' outputs at"
             " each step.",
     .origin = Origin::kOurs,
     .needs = {kAnyRunner}},
    {.flags = {"--reset"},
     .dest = "reset",
     .sets = Sets<&StepPlan::resets>(),
     .arity = Arity::kPlus,
     .action = OptionAction::kAppend,
     .metavar = "[RUNNER:]METHOD",
     .help = "The method of a TorchScript or Python runner that resets the state inside the model."
             " It is called before each set of inputs or each sequence of steps. Without it,"
             " reset_states is called if it exists. Otherwise TorchScript models that write to"
             " their attributes are reloaded; with --steps, so are Python models without"
             " --feed-back.",
     .origin = Origin::kOurs,
     .needs = {kAnyRunner}},
    {.flags = {"--state"},
     .dest = "state",
     .sets = SetBy<&SetStateSource, &StateSourceWords>(),
     .arity = Arity::kOne,
     .choices = kStateSourceNames,
     .fallback = "own",
     .metavar = "WHOSE",
     .help = "Whose state each runner is fed: own, so that errors accumulate as in production;"
             " reference, the first runner's, so that each step shows only its own error; or"
             " cross, which is own except that the reference also infers each step from the"
             " candidate's state. The report of cross says whether the history explains a"
             " difference.",
     .origin = Origin::kOurs,
     .needs = {"--feed-back", "--decode"}},
    {.flags = {"--decode"},
     .dest = "decode",
     .sets = Sets<&StepPlan::decode>(),
     .arity = Arity::kOne,
     .action = OptionAction::kAppend,
     .metavar = "greedy[:LOGITS=TOKENS]",
     .help = "Let each runner of a causal language model choose its next token: the class with the"
             " largest value at the last position of LOGITS becomes the input TOKENS of the next"
             " step. The report says where the tokens of two runners diverge. Both names are"
             " inferred if they are unambiguous; greedy:RUNNER:LOGITS=TOKENS is for one runner."
             " With --state reference, all runners are fed the first runner's tokens; with --tokens"
             " FILE.npy, those of the file.",
     .origin = Origin::kOurs,
     .needs = {kAnyRunner}},
    {.flags = {"--decode-stop"},
     .dest = "decode_stop",
     .sets = Sets<&StepPlan::decode_stop>(kAtLeast0),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .metavar = "ID",
     .help = "The token that ends a sequence. After it, only this token is fed, and no tokens are"
             " compared.",
     .origin = Origin::kOurs,
     .needs = {"--decode"}},
    {.flags = {"--min-token-agreement"},
     .dest = "min_token_agreement",
     .sets = SetBy<&SetMinTokenAgreement, &StepPlan::min_token_agreement>(kShare),
     .arity = Arity::kOne,
     .type = ValueType::kFloat,
     .metavar = "R",
     .help = "Fail if both sides agree on less than this fraction of the tokens of all prompts. A"
             " divergence beyond the tolerance still fails.",
     .origin = Origin::kOurs,
     .needs = {"--decode"}},
    {.flags = {"--compare-state"},
     .dest = "compare_state",
     .sets = Sets<&StepPlan::compare_state>(),
     .help = "Compare the state that is fed back at every step, not only at the first, the last"
             " and the first failing step of a sequence.",
     .origin = Origin::kOurs,
     .needs = {"--feed-back"},
     .idle_beside = "--compare-func-script"},
};

}  // namespace

OptionGroup StepGroup() {
  return {"Steps", "recurrent networks: outputs of one step are inputs of the next", kStepRows};
}

}  // namespace vernier
