#include "options/table/groups.h"
#include "options/table/option_values.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

constexpr OptionRow kLogits[] = {
    {.flags = {"--logits-kl-threshold"},
     .dest = "logits_kl_threshold",
     .sets = SetsNumber<&CompareOptions::logits_kl_threshold>(),
     .arity = Arity::kPlus,
     .fallback = DefaultText("1e-3", kDefaultLogitsKl),
     .metavar = "[OUTPUT:]X",
     .help =
         "Largest Kullback-Leibler divergence of the first runner of a pair from the second,"
         " averaged over the positions of all iterations, in nats. An iteration that exceeds the"
         " noise of the others fails on its own.",
     .origin = Origin::kOurs,
     .needs = {kTwoSides},
     .idle_beside = kOwnJudge},
    {.flags = {"--logits-top1-threshold"},
     .dest = "logits_top1_threshold",
     .sets = SetsNumber<&CompareOptions::logits_top1_threshold>(),
     .arity = Arity::kPlus,
     .fallback = DefaultText("1", kDefaultLogitsTop1),
     .metavar = "[OUTPUT:]X",
     .help = "Smallest fraction of all positions where both runners rank the same class first; a"
             " flip counts as agreement if its margin is 0, or if the margins of both sides are"
             " below six times the RMS difference of the position's other classes.",
     .origin = Origin::kOurs,
     .needs = {kTwoSides},
     .idle_beside = kOwnJudge},
    {.flags = {"--logits-top-k"},
     .dest = "logits_top_k",
     .sets = SetsNumber<&CompareOptions::logits_top_k>(),
     .arity = Arity::kOne,
     .type = ValueType::kInt,
     .fallback = "5",
     .metavar = "K",
     .help = "Also report how often the K largest logits belong to the same classes.",
     .origin = Origin::kOurs,
     .needs = {kTwoSides},
     .idle_beside = kOwnJudge},
};

constexpr OptionRow kTokens[] = {
    {.flags = {"--tokens"},
     .dest = "logits_tokens",
     .sets = Sets<&CompareOptions::tokens>(),
     .files = FileUse::kReads,
     .arity = Arity::kOne,
     .metavar = "INPUT|FILE.npy|SCRIPT.py[:FUNCTION]",
     .help = "The token ids that a language model is fed: an input, a file of shape [batch,"
             " positions], or what FUNCTION (default: tokens) of a tokenizer script returns."
             " --compare logits then also reports the perplexity of both sides. Without it, the"
             " integer input input_ids. With --decode, a file or script holds the tokens after"
             " each prompt; both sides are fed with them, whatever they choose.",
     .origin = Origin::kOurs,
     .needs = {kTwoSides, kAnyRunner},
     .idle_beside = kOwnJudge},
    {.flags = {"--mask"},
     .dest = "logits_mask",
     .sets = Sets<&CompareOptions::mask>(),
     .arity = Arity::kOne,
     .metavar = "INPUT",
     .help =
         "The integer input that marks positions: 1 to compare, 0 to leave out. Applies to logits,"
         " other floating outputs [batch, positions, values] and caches. Default: attention_mask,"
         " where it fits; none compares all positions.",
     .origin = Origin::kOurs,
     .needs = {kTwoSides},
     .idle_beside = kOwnJudge},
};

}  // namespace

OptionGroup CompareTokensGroup() {
  return {"Comparison: tokens", "comparing what language models were fed", kTokens};
}

OptionGroup CompareLogitsGroup() {
  return {"Comparison: logits", "comparing distributions over classes", kLogits};
}

}  // namespace vernier
