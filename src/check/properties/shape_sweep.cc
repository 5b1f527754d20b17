#include "check/properties/shape_sweep.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "check/properties/size_sums.h"
#include "check/properties/token_sequence.h"
#include "check/properties/trial.h"
#include "util/values/list_has.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

constexpr int64_t kSweepSizes[] = {1, 2, 3, 5, 8};

// The dynamic dimensions of the inputs, each once; nameless ones are one.
std::vector<std::string> DynamicDimensions(const Subject& subject) {
  std::vector<std::string> names;
  for (const TensorInfo& input : subject.probe->runner().session().inputs) {
    if (!input.shape) continue;
    for (const Dim& dim : *input.shape) {
      if (dim.dynamic() && !ListHas(names, dim.symbol)) names.push_back(dim.symbol);
    }
  }
  return names;
}

// What of a sweep the model itself refuses, which is no fault of the runner.
struct Refused {
  std::string first = {};  // the first of it, and why
  bool last = false;       // the last one tried was
  bool any = false;        // some size was
  bool may_be = false;     // the model is known to refuse some
};

// Other shapes have no expected values; but they must run, unless the model is known to refuse some
// sizes, or these, and twice to the same result.
bool HoldTwice(Subject& subject, Trial& trial, const std::string& what, const TensorMap& feed,
               Refused& refused) {
  const Result<TensorMap> once = subject.probe->Infer(feed);
  refused.last = !once.ok() && !subject.probe->runner().lost_worker();
  refused.any |= refused.last;
  if (refused.last && refused.may_be) return true;
  if (refused.last) {
    const std::string why = subject.bench.RefusedByAll(feed);
    if (!why.empty() && refused.first.empty()) refused.first = what + " (" + why + ")";
    if (!why.empty()) return true;
  }
  if (!once.ok()) return trial.Break(what, once.status().message());
  return trial.Hold(what, *once, subject.probe->Infer(feed));
}

std::string ShapesOf(const TensorMap& feed) {
  std::string text;
  for (const NamedTensor& input : feed) {
    text +=
        (text.empty() ? "" : ", ") + ("'" + input.name + "' ") + FormatDims(input.tensor.dims());
  }
  return text;
}

std::string Aside(const Subject& subject, const Refused& refused) {
  if (!refused.first.empty()) return "sizes aside that the model refuses: " + refused.first;
  return subject.refuses_sizes ? "sizes aside that the model refuses" : "";
}

// Those that --input-shapes gives in turn; the first of them is what all else is tried with.
PropertyRecord SweepGiven(Subject& subject, const std::vector<TensorMap>& feeds) {
  Trial trial(subject);
  Refused refused{.may_be = subject.refuses_sizes};
  for (const TensorMap& feed : feeds) {
    if (!HoldTwice(subject, trial, "inputs of the shapes " + ShapesOf(feed), feed, refused)) break;
  }
  return trial.Finish("shapes", Aside(subject, refused));
}

// One dimension of that size; where the model refuses it, all of them: they may have to agree.
bool SweepSize(Subject& subject, Trial& trial, const FreeSizes& sizes, Refused& refused) {
  const Result<TensorMap> alone = subject.bench.Draw(sizes);
  if (!alone.ok()) return trial.Break("sizes", alone.status().message());
  const std::string of = " of size " + std::to_string(sizes.size);
  const std::string name =
      sizes.dimension->empty() ? "dynamic dimensions" : "'" + *sizes.dimension + "'";
  if (!HoldTwice(subject, trial, name + of, *alone, refused)) return false;
  if (!refused.last || subject.refuses_sizes) return true;
  FreeSizes all = sizes;
  all.others = sizes.size;
  const Result<TensorMap> together = subject.bench.Draw(all);
  if (!together.ok() || SameShapes(*alone, *together)) return true;
  return HoldTwice(subject, trial, "all free dimensions" + of, *together, refused);
}

// Every size of each dimension that is no sum; what only goes wrong where two of them are more than
// 1 comes last.
PropertyRecord SweepDimensions(Subject& subject, const std::vector<std::string>& dimensions,
                               const std::vector<SizeSum>& sums, Refused& refused) {
  Trial trial(subject);
  const Result<TensorMap> together = subject.bench.Draw({.others = kLargerSize, .sums = sums});
  if (!together.ok()) return NotApplicable(together.status().message());
  for (const std::string& dimension : dimensions) {
    if (IsSum(sums, dimension)) continue;
    for (const int64_t size : kSweepSizes) {
      const FreeSizes sizes{.dimension = dimension, .size = size, .sums = sums};
      if (!SweepSize(subject, trial, sizes, refused)) return trial.Finish("");
    }
  }
  std::string how = DescribeSums(sums);
  if (dimensions.size() > 1) {
    const std::string what = "all free dimensions of size " + std::to_string(kLargerSize);
    if (!HoldTwice(subject, trial, what, *together, refused)) return trial.Finish("");
    how = "each free dimension by itself, and " + what + (how.empty() ? "" : "; " + how);
  }
  const std::string aside = Aside(subject, refused);
  return trial.Finish("shapes", how + (how.empty() || aside.empty() ? "" : "; ") + aside);
}

// What the runner hands on after the first tokens.
Result<TensorMap> CachesAfter(Subject& subject, const TokenSequence& sequence, int64_t tokens) {
  VERNIER_ASSIGN_OR_RETURN(TensorMap empty, sequence.EmptyCaches());
  if (tokens == 0) return empty;
  VERNIER_ASSIGN_OR_RETURN(const TensorMap feed, sequence.Feed({0, tokens}, empty));
  VERNIER_ASSIGN_OR_RETURN(const TensorMap outputs, subject.probe->Infer(feed));
  return sequence.CachesOf(outputs);
}

// Numbers of tokens behind numbers of cached ones, where dimensions have no names that would tell
// which of them must fit each other.
PropertyRecord SweepTokens(Subject& subject, const TokenSequence& sequence) {
  Trial trial(subject);
  Refused refused;
  for (const int64_t past : {0, 1, 2, 3, 5}) {
    const Result<TensorMap> caches = CachesAfter(subject, sequence, past);
    if (!caches.ok()) {
      trial.Break(Counted(past, "token"), caches.status().message());
      return trial.Finish("");
    }
    for (const int64_t count : kSweepSizes) {
      if (past + count > sequence.all().count) break;
      const Result<TensorMap> feed = sequence.Feed({past, count}, *caches);
      if (!feed.ok()) return NotApplicable(feed.status().message());
      const std::string what =
          Counted(count, "token") + " behind " + Counted(past, "cached one", "cached ones");
      if (!HoldTwice(subject, trial, what, *feed, refused)) return trial.Finish("");
    }
  }
  return trial.Finish("shapes",
                      "tokens behind cached ones, as the free dimensions have no names and not all "
                      "of them can have one size");
}

}  // namespace

PropertyRecord ShapeSweep(Subject& subject) {
  const Result<std::vector<TensorMap>> given = subject.bench.DrawGiven();
  if (!given.ok()) return NotApplicable(given.status().message());
  if (given->size() > 1) return SweepGiven(subject, *given);
  const std::vector<std::string> dimensions = DynamicDimensions(subject);
  if (subject.probe->runner().inputs_unknown()) {
    return NotApplicable("the model does not declare which dimensions of its inputs are free");
  }
  if (dimensions.empty()) return NotApplicable("every dimension of the inputs is fixed");
  std::vector<SizeSum> sums;
  Refused refused{.may_be = subject.refuses_sizes};
  PropertyRecord swept = SweepDimensions(subject, dimensions, sums, refused);
  while (refused.any && !subject.probe->runner().lost_worker()) {
    std::optional<SizeSum> sum =
        FindSizeSum(subject, dimensions, sums, swept.verdict == PropertyVerdict::kBroken);
    if (!sum) break;
    sums.push_back(*std::move(sum));
    refused = {.may_be = subject.refuses_sizes};
    swept = SweepDimensions(subject, dimensions, sums, refused);
  }
  const bool lost = subject.probe->runner().lost_worker();
  if (lost || !refused.any || !sums.empty() || !ListHas(dimensions, std::string())) return swept;
  const Result<TokenSequence> sequence = TokenSequence::Of(subject);
  return sequence.ok() ? SweepTokens(subject, *sequence) : swept;
}

}  // namespace vernier
