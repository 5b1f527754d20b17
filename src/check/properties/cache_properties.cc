#include "check/properties/cache_properties.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "check/properties/token_sequence.h"
#include "check/properties/trial.h"
#include "model/onnx/onnx_model.h"
#include "util/text/first_line.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

constexpr int64_t kChunks[] = {1, 3};
constexpr int64_t kPadTokens = 3;
constexpr int64_t kTokensBehind = 3;

// The sequence, and what the runner makes of all of it at once.
struct Prefill {
  TokenSequence sequence;
  TensorMap feed;
  TensorMap outputs;
};

// kInvalidArgument where the property does not apply, kMalformed where a cache cannot be fed back;
// other errors break it.
Result<Prefill> RunPrefill(Subject& subject, Probe& probe) {
  VERNIER_ASSIGN_OR_RETURN(TokenSequence sequence, TokenSequence::Of(subject));
  VERNIER_ASSIGN_OR_RETURN(const TensorMap empty, sequence.EmptyCaches());
  VERNIER_ASSIGN_OR_RETURN(TensorMap feed, sequence.Feed(sequence.all(), empty));
  Result<TensorMap> outputs = probe.Infer(feed);
  if (outputs.ok()) {
    (void)subject.bench.BoundsOf(feed, *outputs);  // of every output, also where a part lacks some
    return Prefill{std::move(sequence), std::move(feed), *std::move(outputs)};
  }
  if (probe.runner().lost_worker()) return outputs.status();
  return InvalidArgument("the model does not run " + Counted(sequence.all().count, "token") +
                         " with empty caches: " + FirstLine(outputs.status().message()));
}

// Why tokens at once may differ from the same in parts: one scale that all of them decide. Empty:
// as far as is known, nothing does.
std::string WhyScaledTogether(const ModelPlan& plan) {
  if (plan.type != "onnx") return {};
  const Result<OnnxModel> model = OnnxModel::Open(plan.path);
  if (!model.ok()) return {};
  for (const OnnxNode& node : model->graph().nodes) {
    if (!node.op_type.starts_with("DynamicQuantize")) continue;
    return "node '" + std::string(node.name) + "' (" + std::string(node.op_type) +
           ") takes one scale for all tokens at once";
  }
  return {};
}

// The same of a model that must not see which tokens are fed together.
Result<Prefill> RunSeparable(Subject& subject) {
  Result<Prefill> prefill = RunPrefill(subject, *subject.probe);
  if (!prefill.ok()) return prefill;
  const std::string why = WhyScaledTogether(subject.runner.plan.model);
  if (!why.empty()) return InvalidArgument(why);
  return prefill;
}

PropertyRecord WithoutPrefill(const Subject& subject, const Status& why) {
  const bool untried =
      why.code() == StatusCode::kInvalidArgument || why.code() == StatusCode::kMalformed;
  if (untried) return NotApplicable(why.message());
  Trial trial(subject);
  trial.Break("all tokens with empty caches", why.message());
  return trial.Finish("");
}

// Of `outputs` those that are also in `names`: what nothing is expected of is not compared.
TensorMap KeepOutputs(const TensorMap& outputs, const TensorMap& names) {
  TensorMap kept;
  for (const NamedTensor& output : outputs) {
    if (Find(names, output.name) != nullptr) kept.push_back(output);
  }
  return kept;
}

std::string NameOfSpan(TokenSpan span, int64_t count, int64_t chunk) {
  const std::string first = std::to_string(span.start + 1), last = std::to_string(span.end());
  const std::string which = span.count == 1 ? "token " + last : "tokens " + first + " to " + last;
  const std::string how = chunk == 1 ? "one by one" : std::to_string(chunk) + " at a time";
  return which + " of " + std::to_string(count) + ", fed " + how;
}

// Of what is compared at the end of the sequence alone.
std::string NotCompared(const TensorMap& outputs, const TensorMap& compared) {
  std::string names;
  for (const NamedTensor& output : outputs) {
    if (Find(compared, output.name) != nullptr) continue;
    names += (names.empty() ? "; not compared: '" : ", '") + output.name + "'";
  }
  return names.empty() ? names : names + ", of another shape for fewer tokens";
}

// One inference after the other, each with the caches that the one before handed out.
bool HoldChunks(Subject& subject, Trial& trial, const Prefill& prefill, int64_t chunk,
                std::string& not_compared) {
  const TokenSequence& sequence = prefill.sequence;
  const int64_t count = sequence.all().count;
  Result<TensorMap> caches = sequence.EmptyCaches();
  for (int64_t start = 0; start < count; start += chunk) {
    const TokenSpan span{start, std::min(chunk, count - start)};
    const std::string what = NameOfSpan(span, count, chunk);
    if (!caches.ok()) return trial.Break(what, caches.status().message());
    const Result<TensorMap> feed = sequence.Feed(span, *caches);
    if (!feed.ok()) return trial.Break(what, feed.status().message());
    const Result<TensorMap> outputs = subject.probe->Infer(*feed);
    if (!outputs.ok()) return trial.Break(what, outputs.status().message());
    const Result<TensorMap> expected = sequence.PartOf(prefill.outputs, span, *outputs);
    if (!expected.ok()) return trial.Break(what, expected.status().message());
    trial.JudgeBy(subject.bench.BoundsOf(prefill.feed, *expected));
    if (!trial.Hold(what, *expected, KeepOutputs(*outputs, *expected))) return false;
    if (span.end() == count) not_compared = NotCompared(prefill.outputs, *expected);
    caches = sequence.CachesOf(*outputs);
  }
  return true;
}

// "8 tokens at once against one by one".
std::string NameOfAll(const Prefill& prefill, const std::string& against) {
  return Counted(prefill.sequence.all().count, "token") + " at once against " + against;
}

bool HoldPadded(Subject& subject, Trial& trial, const Prefill& prefill,
                const TokenPadding& padding) {
  const TokenSequence& sequence = prefill.sequence;
  const int64_t pads = padding.left + padding.right;
  const std::string what = Counted(sequence.all().count, "token") + " with " +
                           Counted(pads, "token") + " of padding on the " +
                           (padding.left > 0 ? "left" : "right");
  // Without an input of positions a model may count them from the padding on, and its caches say
  // so.
  const bool with_caches = sequence.Has(TokenRole::kPositions);
  const Result<TensorMap> expected = sequence.RowsOf(prefill.outputs, sequence.all(), with_caches);
  if (!expected.ok()) return trial.Break(what, expected.status().message());
  const Result<TensorMap> feed = sequence.PaddedFeed(padding);
  if (!feed.ok()) return trial.Break(what, feed.status().message());
  const Result<TensorMap> outputs = subject.probe->Infer(*feed);
  if (!outputs.ok()) return trial.Break(what, outputs.status().message());
  const TokenSpan real{padding.left, sequence.all().count};
  trial.JudgeBy(subject.bench.BoundsOf(prefill.feed, *expected));
  return trial.Hold(what, *expected, sequence.RowsOf(*outputs, real, with_caches));
}

// The last tokens one by one, once behind caches that hold padding, too, and once behind others.
bool HoldPaddedPast(Subject& subject, Trial& trial, const Prefill& prefill) {
  const TokenSequence& sequence = prefill.sequence;
  const int64_t count = sequence.all().count;
  const TokenPadding padding{.left = kPadTokens};
  Result<TensorMap> plain = sequence.EmptyCaches(), padded = plain;
  for (TokenSpan span{0, std::max<int64_t>(1, count - 2)}; span.start < count;
       span = {span.end(), 1}) {
    const std::string what = "token " + std::to_string(span.end()) + " of " +
                             std::to_string(count) + ", fed after a cache with " +
                             Counted(kPadTokens, "token") + " of padding on the left";
    if (!plain.ok() || !padded.ok()) return trial.Break(what, plain.status().message());
    Result<TensorMap> feed = sequence.Feed(span, *plain);
    if (!feed.ok()) return trial.Break(what, feed.status().message());
    const Result<TensorMap> expected = subject.probe->Infer(*feed);
    if (!expected.ok()) return trial.Break(what, expected.status().message());
    feed = sequence.PaddedFeed(span, padding, *padded);
    if (!feed.ok()) return trial.Break(what, feed.status().message());
    const Result<TensorMap> found = subject.probe->Infer(*feed);
    if (!found.ok()) return trial.Break(what, found.status().message());
    if (span.start > 0) {
      const Result<TensorMap> rows = sequence.RowsOf(*expected, {0, 1}, false);
      if (!rows.ok()) return trial.Break(what, rows.status().message());
      trial.JudgeBy(subject.bench.BoundsOf(prefill.feed, *rows));
      if (!trial.Hold(what, *rows, sequence.RowsOf(*found, {0, 1}, false))) return false;
    }
    plain = sequence.CachesOf(*expected);
    padded = sequence.CachesOf(*found);
  }
  return true;
}

// The first token again and again behind all of them, with the caches fed back.
Probe::Continuation GoOnBehind(const TokenSequence& sequence, const TensorMap& outputs,
                               Probe& probe) {
  Probe::Continuation later;
  TensorMap caches = sequence.CachesOf(outputs);
  for (int64_t token = 0; token < kTokensBehind; ++token) {
    const Result<TensorMap> feed = sequence.Feed({0, 1}, caches);
    Result<TensorMap> made = feed.ok() ? probe.Infer(*feed) : feed.status();
    later.failure = made.status();
    if (!made.ok()) break;
    caches = sequence.CachesOf(*made);
    later.outputs.push_back(*std::move(made));
  }
  return later;
}

// All tokens and those behind them, as in the sequence before.
bool HoldOnceMore(Subject& subject, Trial& trial, const Prefill& prefill,
                  const Probe::Continuation& later, Probe& probe) {
  const std::string what = "the sequence once more, with empty caches";
  trial.JudgeBy(subject.bench.BoundsOf(prefill.feed, prefill.outputs));
  if (!trial.Hold(what, prefill.outputs, probe.Infer(prefill.feed))) return false;
  const Probe::Continuation found = GoOnBehind(prefill.sequence, prefill.outputs, probe);
  for (size_t i = 0; i < later.outputs.size(); ++i) {
    const std::string step = what + ", " + Counted(i + 1, "token") + " behind it";
    if (i == found.outputs.size()) return trial.Break(step, found.failure.message());
    trial.JudgeBy(subject.bench.BoundsOf(prefill.feed, later.outputs[i]));
    if (!trial.HoldMore(step, later.outputs[i], found.outputs[i])) return false;
  }
  return true;
}

// What of the mask was taken for what belongs to what was found.
PropertyRecord WithMask(PropertyRecord record, const TokenSequence& sequence) {
  if (record.verdict == PropertyVerdict::kNotApplicable) return record;
  record.detail += sequence.TakenAs(record.verdict == PropertyVerdict::kHolds);
  return record;
}

}  // namespace

PropertyRecord PrefillDecode(Subject& subject) {
  const Result<Prefill> prefill = RunSeparable(subject);
  Trial trial(subject);
  if (prefill.status().code() == StatusCode::kMalformed) {
    trial.Break("the first inputs", prefill.status().message());
    return trial.Finish("");
  }
  if (!prefill.ok()) return WithoutPrefill(subject, prefill.status());
  std::string not_compared;
  for (const int64_t chunk : kChunks) {
    if (!HoldChunks(subject, trial, *prefill, chunk, not_compared)) break;
  }
  return WithMask(
      trial.Finish("inferences", NameOfAll(*prefill, "one by one and 3 at a time") + not_compared),
      prefill->sequence);
}

PropertyRecord PaddedSequence(Subject& subject) {
  const Result<Prefill> prefill = RunSeparable(subject);
  if (!prefill.ok()) return WithoutPrefill(subject, prefill.status());
  const TokenSequence& sequence = prefill->sequence;
  if (!sequence.Has(TokenRole::kMask)) {
    return NotApplicable("no input is a mask that could exclude padding");
  }
  if (!sequence.float_mask().empty()) {
    return NotApplicable("the mask '" + sequence.float_mask() +
                         "' holds floats, and nothing says which of them exclude padding");
  }
  const Result<TensorMap> rows = sequence.RowsOf(prefill->outputs, sequence.all(), false);
  if (!rows.ok()) return NotApplicable(rows.status().message());
  if (rows->empty()) return NotApplicable("no output has a row for each token");
  Trial trial(subject);
  (void)(HoldPadded(subject, trial, *prefill, {.left = kPadTokens}) &&
         HoldPadded(subject, trial, *prefill, {.right = kPadTokens}) &&
         HoldPaddedPast(subject, trial, *prefill));
  return WithMask(
      trial.Finish("paddings", NameOfAll(*prefill,
                                         "with 3 of padding on the left, on the right, and "
                                         "in the cache")),
      sequence);
}

PropertyRecord FreshSequence(Subject& subject) {
  const Result<TokenSequence> sequence = TokenSequence::Of(subject);
  if (!sequence.ok()) return NotApplicable(sequence.status().message());
  Trial trial(subject);
  const Result<std::unique_ptr<Probe>> fresh = subject.runner.Open();
  if (!fresh.ok()) {
    trial.Break("a second process", fresh.status().message());
    return trial.Finish("");
  }
  const Result<Prefill> prefill = RunPrefill(subject, **fresh);
  if (!prefill.ok()) return WithoutPrefill(subject, prefill.status());
  // What the runner may keep is then that of a sequence which had gone on.
  const Probe::Continuation later = GoOnBehind(*sequence, prefill->outputs, **fresh);
  HoldOnceMore(subject, trial, *prefill, later, **fresh);
  return trial.Finish("sequence", NameOfAll(*prefill, "the same in a new process"));
}

}  // namespace vernier
