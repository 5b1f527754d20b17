#include <algorithm>

#include "cli/option_values.h"
#include "cli/options/groups.h"

namespace vernier {
namespace {

Status SetStateSource(const OptionInput& input, StepPlan& steps) {
  const auto* const name = std::ranges::find(kStateSourceNames, TextOf(input));
  steps.state = static_cast<StateSource>(name - kStateSourceNames.begin());
  return {};
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
     .help = "Make each set of inputs a sequence of NUM steps, each of which is an iteration."
             " Without it, a sequence has as many as --step-slice finds in its inputs.",
     .origin = Origin::kOurs,
     .needs = {kAnyRunner}},
    {.flags = {"--feed-back"},
     .dest = "feed_back",
     .sets = Sets<&StepPlan::feed_back>(),
     .arity = Arity::kPlus,
     .action = OptionAction::kAppend,
     .metavar = "[RUNNER:]OUTPUT:INPUT",
     .help = "Give a runner its OUTPUT of a step as INPUT of the next one, for example"
             " stateN:state 'present.*:past_key_values.*', or auto for pairs whose types, shapes "
             "and names show"
             " that they belong together, as those do.",
     .origin = Origin::kOurs,
     .needs = {kAnyRunner}},
    {.flags = {"--initial-state"},
     .dest = "initial_state",
     .sets = Sets<&StepPlan::initial_state>(),
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "FILE",
     .help = "A file of inputs with the state of the first step of each sequence. Without it, what"
             " --load-inputs or a data loader script gives, else zeros.",
     .origin = Origin::kOurs,
     .needs = {"--feed-back"}},
    {.flags = {"--step-slice"},
     .dest = "step_slice",
     .sets = Sets<&StepPlan::slices>(),
     .arity = Arity::kPlus,
     .action = OptionAction::kAppend,
     .metavar = "[RUNNER:]INPUT:axis=N,...",
     .help = "Give each step its slice of an input that holds a whole sequence:"
             " input:axis=1,size=576,hop=512,pad=64 takes 576 elements, 512 further in each step,"
             " after 64 zeros before the first. Without size=, the size that the model declares;"
             " without hop=, slices follow one another.",
     .origin = Origin::kOurs,
     .needs = {kAnyRunner}},
    {.flags = {"--advance"},
     .dest = "advance",
     .sets = Sets<&StepPlan::advances>(),
     .arity = Arity::kPlus,
     .action = OptionAction::kAppend,
     .metavar = "INPUT:+N",
     .help = "Change an input from step to step: position_ids:+1 adds to it,"
             " 'attention_mask:append 1' makes its last axis longer.",
     .origin = Origin::kOurs,
     .needs = {kAnyRunner}},
    {.flags = {"--steps-axis"},
     .dest = "steps_axis",
     .sets = Sets<&StepPlan::axes>(),
     .arity = Arity::kPlus,
     .action = OptionAction::kAppend,
     .metavar = "RUNNER:AXIS",
     .help = "Give this runner all steps of a sequence in one inference, joined along AXIS, and"
             " compare the parts of its outputs along AXIS with the steps of the others.",
     .origin = Origin::kOurs,
     .needs = {kAnyRunner}},
    {.flags = {"--reset"},
     .dest = "reset",
     .sets = Sets<&StepPlan::resets>(),
     .arity = Arity::kPlus,
     .action = OptionAction::kAppend,
     .metavar = "[RUNNER:]METHOD",
     .help = "The method of a TorchScript or Python runner that resets the state which the model"
             " keeps inside. It is called before each set of inputs, or each sequence of steps."
             " Without it, reset_states where there is one; TorchScript that writes to its own"
             " attributes is loaded afresh.",
     .origin = Origin::kOurs,
     .needs = {kAnyRunner}},
    {.flags = {"--state"},
     .dest = "state",
     .sets = SetBy<&SetStateSource>(),
     .arity = Arity::kOne,
     .choices = kStateSourceNames,
     .fallback = "own",
     .metavar = "WHOSE",
     .help = "Whose state runners are fed with: each its own, so that errors add up as in use, or"
             " all that of the first runner (reference), so that each step shows its own error."
             " With cross, each has its own, and the reference infers each step once more with the"
             " candidate's: the report says whether the history explains a difference.",
     .origin = Origin::kOurs,
     .needs = {"--feed-back", "--decode"}},
    {.flags = {"--decode"},
     .dest = "decode",
     .sets = Sets<&StepPlan::decode>(),
     .arity = Arity::kOne,
     .action = OptionAction::kAppend,
     .metavar = "greedy[:LOGITS=TOKENS]",
     .help = "Let each runner of a causal language model choose its next token: the class with the"
             " largest value at the last position of LOGITS is the input TOKENS of the next step,"
             " and the report says where the tokens of two runners part. Both names are found where"
             " they are clear; greedy:RUNNER:LOGITS=TOKENS is about one runner. With --state"
             " reference all are fed with the tokens of the first runner.",
     .origin = Origin::kOurs,
     .needs = {kAnyRunner}},
    {.flags = {"--decode-stop"},
     .dest = "decode_stop",
     .sets = Sets<&StepPlan::decode_stop>(kAtLeast0),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .metavar = "ID",
     .help = "The token that ends a sequence: behind it only this token is fed, and no more tokens"
             " are compared.",
     .origin = Origin::kOurs,
     .needs = {"--decode"}},
    {.flags = {"--min-token-agreement"},
     .dest = "min_token_agreement",
     .sets = SetBy<&SetMinTokenAgreement>(kShare),
     .arity = Arity::kOne,
     .type = ValueType::kFloat,
     .metavar = "R",
     .help = "Fail if both sides agree on less than this share of the tokens of all prompts. A"
             " divergence beyond the tolerance still fails.",
     .origin = Origin::kOurs,
     .needs = {"--decode"}},
    {.flags = {"--compare-state"},
     .dest = "compare_state",
     .sets = Sets<&StepPlan::compare_state>(),
     .help = "Compare what is fed back at every step, not only at the first, the last and the first"
             " bad one of a sequence.",
     .origin = Origin::kOurs,
     .needs = {"--feed-back"},
     .idle_beside = "--compare-func-script"},
};

}  // namespace

OptionGroup StepGroup() {
  return {"Steps", "recurrent networks: outputs of one step are inputs of the next", kStepRows};
}

}  // namespace vernier
