#include "check/extremes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "check/first_feed.h"
#include "check/probe_sizes.h"
#include "compare/vacuous.h"
#include "kernels/element_blocks.h"
#include "run/feeds/described_inputs.h"
#include "util/no_log.h"

namespace vernier {
namespace {

// What an element is, as far as this check goes.
enum class Class : uint8_t { kOther, kZero, kDenormal, kPlusInf, kMinusInf, kNan };

// Finite values that are farther apart than this share of the larger one are other values, whatever
// rounding did; sums that cancel may be, too, so that they are told and no verdict.
constexpr double kAnotherValue = 0.01;

// What follows the limits where an input has one element.
constexpr ExtremeSetRow kFromLargest = {ExtremeSet::kLimitsFromLargest, "limits (largest first)",
                                        "integers: the largest and the smallest value in turn",
                                        true};

struct Element {
  double value;
  Class kind;
};

Class Classify(double value, double smallest_normal) {
  if (std::isnan(value)) return Class::kNan;
  if (std::isinf(value)) return value > 0 ? Class::kPlusInf : Class::kMinusInf;
  if (value == 0) return Class::kZero;
  return std::fabs(value) < smallest_normal ? Class::kDenormal : Class::kOther;
}

bool IsFinite(Class c) { return c < Class::kPlusInf; }

// The elements of a float tensor, of which one block is there at a time.
class ElementBlock {
 public:
  explicit ElementBlock(const Tensor& tensor)
      : elements_{tensor.dtype(), tensor.bytes(), tensor.element_count()},
        smallest_normal_(SmallestNormal(tensor.dtype())) {}

  void Load(int64_t begin, size_t size) {
    values_ = LoadBlock(elements_, begin, size, scratch_.data());
  }

  Element operator[](size_t i) const {
    return {values_[i], Classify(values_[i], smallest_normal_)};
  }

 private:
  ElementSpan elements_;
  double smallest_normal_;
  const double* values_ = nullptr;
  std::array<double, kBlockSize> scratch_{};
};

// Calls `take` with the elements of float tensors that have as many of them, place by place.
template <typename Take, typename... Tensors>
void ForEachElement(const Take& take, const Tensor& first, const Tensors&... others) {
  const auto walk = [&take, count = first.element_count()](auto... blocks) {
    for (int64_t begin = 0; begin < count; begin += static_cast<int64_t>(kBlockSize)) {
      const auto size =
          static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(kBlockSize), count - begin));
      (blocks.Load(begin, size), ...);
      for (size_t i = 0; i < size; ++i) take(blocks[i]...);
    }
  };
  walk(ElementBlock(first), ElementBlock(others)...);
}

bool IsFloat(const Tensor& tensor) { return Kind(tensor.dtype()) == DTypeKind::kFloat; }
bool IsString(const Tensor& tensor) { return Kind(tensor.dtype()) == DTypeKind::kString; }
bool IsComplex(const Tensor& tensor) { return Kind(tensor.dtype()) == DTypeKind::kComplex; }

void Count(const TensorMap& outputs, ExtremeAnswer& answer) {
  for (const NamedTensor& output : outputs) {
    answer.elements += output.tensor.element_count();
    if (IsString(output.tensor) || IsComplex(output.tensor)) continue;
    const auto count = [&answer](const Element& element) {
      const Class c = element.kind;
      answer.nan += c == Class::kNan ? 1 : 0;
      answer.infinite += c == Class::kPlusInf || c == Class::kMinusInf ? 1 : 0;
      answer.denormal += c == Class::kDenormal ? 1 : 0;
      answer.zero += c == Class::kZero ? 1 : 0;
    };
    ForEachElement(count, output.tensor);
  }
}

bool IsAnotherValue(const Element& a, const Element& b) {
  const bool both = a.kind == Class::kOther || b.kind == Class::kOther;
  if (!both || !IsFinite(a.kind) || !IsFinite(b.kind)) return false;
  const double larger = std::max(std::fabs(a.value), std::fabs(b.value));
  // Halves, so that the difference of large ones is finite.
  return std::fabs(a.value / 2 - b.value / 2) > kAnotherValue / 2 * larger;
}

void HoldElement(const Element& a, const Element& b, ExtremeAnswer& answer) {
  const Class here = a.kind, there = b.kind;
  answer.other_value += IsAnotherValue(a, b) ? 1 : 0;
  answer.only_here_not_finite += !IsFinite(here) && IsFinite(there) ? 1 : 0;
  answer.only_here_finite += IsFinite(here) && !IsFinite(there) ? 1 : 0;
  answer.other_kind += !IsFinite(here) && !IsFinite(there) && here != there ? 1 : 0;
  answer.flushed += here == Class::kZero && there == Class::kDenormal ? 1 : 0;
  answer.kept += here == Class::kDenormal && there == Class::kZero ? 1 : 0;
  const bool zeros = here == Class::kZero && there == Class::kZero;
  answer.other_sign += zeros && std::signbit(a.value) != std::signbit(b.value) ? 1 : 0;
}

// Of tensors of one type whose elements are whole bytes; integers of 64 bits are no doubles.
int64_t CountOtherBytes(const Tensor& a, const Tensor& b) {
  const auto count = static_cast<size_t>(a.element_count());
  const size_t item = a.bytes().size() / count;
  int64_t others = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto at = [&](const Tensor& tensor) { return tensor.bytes().subspan(i * item, item); };
    others += std::ranges::equal(at(a), at(b)) ? 0 : 1;
  }
  return others;
}

// Integers, booleans and strings that are not equal.
int64_t CountOthers(const Tensor& a, const Tensor& b) {
  int64_t others = 0;
  if (IsString(a)) {
    for (int64_t i = 0; i < a.element_count(); ++i) {
      others += a.StringAt(i) == b.StringAt(i) ? 0 : 1;
    }
    return others;
  }
  const auto bytes = static_cast<int64_t>(a.bytes().size());
  if (a.element_count() == 0) return 0;
  if (a.dtype() == b.dtype() && bytes % a.element_count() == 0) return CountOtherBytes(a, b);
  const auto count = [&others](const Element& ours, const Element& theirs) {
    others += ours.value == theirs.value ? 0 : 1;
  };
  ForEachElement(count, a, b);
  return others;
}

void HoldFloats(const NamedTensor& output, const Tensor& other, ExtremeAnswer& answer) {
  const bool agreed = !answer.disagrees();
  const auto hold = [&answer](const Element& ours, const Element& theirs) {
    HoldElement(ours, theirs, answer);
  };
  ForEachElement(hold, output.tensor, other);
  if (agreed && answer.disagrees()) answer.output = output.name;
}

bool CanBeHeld(const Tensor& a, const Tensor& b) {
  return a.dims() == b.dims() && IsFloat(a) == IsFloat(b) && IsString(a) == IsString(b) &&
         !IsComplex(a) && !IsComplex(b);
}

// What the comparisons of an output came to, over all sets.
struct OutputCoverage {
  bool shows = false;  // something, with one set at least
  std::string why;     // it does not
};
using Coverage = std::map<std::string, OutputCoverage>;

void HoldAgainstFirst(const TensorMap& first, const TensorMap& outputs, ExtremeAnswer& answer,
                      Coverage& coverage) {
  for (const NamedTensor& output : outputs) {
    const Tensor* other = Find(first, output.name);
    if (other == nullptr || !CanBeHeld(*other, output.tensor)) {
      answer.not_compared.push_back(output.name);
      continue;
    }
    answer.compared += output.tensor.element_count();
    OutputCoverage& covered = coverage[output.name];
    std::string why = VacuousBecause(*other, output.tensor);
    covered.shows |= why.empty();
    covered.why = std::move(why);
    if (IsFloat(output.tensor)) {
      HoldFloats(output, *other, answer);
    } else {
      answer.other_exact += CountOthers(output.tensor, *other);
    }
  }
  for (const NamedTensor& output : first) {
    if (Find(outputs, output.name) == nullptr) answer.not_compared.push_back(output.name);
  }
}

class ExtremesCheck {
 public:
  ExtremesCheck(const RunPlan& plan, const Probe::Shared& shared, const ExtremeObserver& observer)
      : plan_(plan), shared_(shared), observer_(observer) {}

  Result<ExtremesRecord> Run(std::span<const ExtremeSetRow> sets) {
    for (const RunnerPlan& runner : plan_.runners) VERNIER_TRY(Add(runner));
    if (Side* side = WhoTellsInputs()) VERNIER_TRY(Draw(*side));
    if (!feed_) return record_;
    NoteKeptIntegers(sets);
    for (const ExtremeSetRow& set : sets) {
      VERNIER_TRY(Try(set));
      if (set.set == ExtremeSet::kLimits && OneElementHasLimits()) VERNIER_TRY(Try(kFromLargest));
    }
    record_.outputs = static_cast<int64_t>(coverage_.size());
    for (const auto& [name, covered] : coverage_) {
      if (!covered.shows) record_.shows_nothing.push_back({name, covered.why});
    }
    return record_;
  }

 private:
  struct Side {
    const RunnerPlan* plan;
    std::shared_ptr<const ModelSource> model;
    std::unique_ptr<Probe> probe;  // null: it could not be opened, or died
  };

  Status Add(const RunnerPlan& runner) {
    ExtremeRunner record{runner.name, runner.backend, {}, {}, false};
    VERNIER_ASSIGN_OR_RETURN(std::shared_ptr<const ModelSource> model,
                             ModelSource::Prepare(runner.model, shared_.logger));
    Result<std::unique_ptr<Probe>> probe = Probe::Open(shared_, runner, *model);
    if (probe.status().code() == StatusCode::kCancelled) return probe.status();
    Side side{&runner, std::move(model), nullptr};
    if (probe.ok()) {
      side.probe = *std::move(probe);
      record.framework_version = side.probe->runner().backend().framework_version;
    } else {
      record.failure = probe.status().message();
      record.unavailable = probe.status().code() == StatusCode::kUnavailable;
    }
    record_.runners.push_back(std::move(record));
    sides_.push_back(std::move(side));
    return {};
  }

  // The first that says what it takes; the first at all where none does.
  Side* WhoTellsInputs() {
    Side* silent = nullptr;
    for (Side& side : sides_) {
      if (side.probe == nullptr) continue;
      if (!side.probe->runner().inputs_unknown()) return &side;
      if (silent == nullptr) silent = &side;
    }
    return silent;
  }

  Status Draw(Side& side) {
    VERNIER_ASSIGN_OR_RETURN(const std::vector<TensorInfo> inputs,
                             side.probe->InputsToFeed(plan_.inputs));
    VERNIER_ASSIGN_OR_RETURN(feed_, MakeFirstFeed(plan_, inputs, shared_, shared_.logger));
    return SizesAreGuessed(plan_, inputs) ? SettleSizes(inputs) : Status();
  }

  // Whether the model runs at all with sizes that nobody gave, before extremes could be why not.
  Status SettleSizes(const std::vector<TensorInfo>& inputs) {
    NoLog unheard;
    const auto draw = [&](const RunPlan& sized) {
      return MakeFirstFeed(sized, inputs, shared_, unheard);
    };
    SizeTrial trial{draw, {}, shared_.logger};
    for (Side& side : sides_) {
      if (side.probe == nullptr || !TakesAnySizes(*side.probe)) continue;
      Result<bool> at_one = AllHaveElements(Infer(side, *feed_));
      trial.runners.push_back(SizeRunnerOf(*side.probe, std::move(at_one)));
    }
    VERNIER_ASSIGN_OR_RETURN(FoundSizes found, FindSizes(plan_, inputs, trial));
    VERNIER_TRY(found.unsteady);
    tried_sizes_ = found.tried;
    if (!found.dims.empty()) {
      shared_.logger.Warning(found.note);
      record_.sizes_found = std::move(found.note);
      feed_ = std::move(found.feed);
      return {};
    }
    for (Side& side : sides_) {
      if (side.probe != nullptr && side.probe->runner().lost_worker()) side.probe.reset();
    }
    return {};
  }

  // Whoever has only floats in mind is to know.
  void NoteKeptIntegers(std::span<const ExtremeSetRow> sets) {
    const bool tried = std::ranges::any_of(
        sets, [](const ExtremeSetRow& set) { return set.set == ExtremeSet::kLimits; });
    if (tried) return;
    for (const NamedTensor& input : *feed_) {
      if (!TakesExtremes(input.tensor.dtype(), ExtremeSet::kLimits)) continue;
      record_.integers_kept.push_back(input.name);
    }
  }

  // In turn, an input of one element would only get the smallest value.
  bool OneElementHasLimits() const {
    return std::ranges::any_of(*feed_, [](const NamedTensor& input) {
      return input.tensor.element_count() == 1 &&
             TakesExtremes(input.tensor.dtype(), ExtremeSet::kLimits);
    });
  }

  // The feed with the set in every input that takes it; nullopt if none does.
  Result<std::optional<TensorMap>> FeedWith(ExtremeSet set) {
    NumpyRandom random(static_cast<uint32_t>(plan_.inputs.seed));
    TensorMap feed = *feed_;
    bool any = false;
    for (NamedTensor& input : feed) {
      if (!TakesExtremes(input.tensor.dtype(), set)) continue;
      if (input.tensor.element_count() == 0) record_.inputs_are_empty = true;
      if (input.tensor.element_count() == 0) continue;
      VERNIER_ASSIGN_OR_RETURN(input.tensor, MakeExtreme(input.tensor, set, random));
      any = true;
    }
    return any ? std::optional(std::move(feed)) : std::nullopt;
  }

  Status Try(const ExtremeSetRow& set) {
    VERNIER_ASSIGN_OR_RETURN(const std::optional<TensorMap> feed, FeedWith(set.set));
    if (!feed) {
      record_.not_tried.emplace_back(set.name);
      return {};
    }
    std::optional<TensorMap> first;
    std::string first_name;
    for (Side& side : sides_) {
      const size_t index = static_cast<size_t>(&side - sides_.data());
      if (!record_.runners[index].failure.empty()) continue;
      ExtremeAnswer answer;
      answer.set = set.name;
      answer.runner = side.plan->name;
      Result<TensorMap> outputs = Infer(side, *feed);
      if (outputs.status().code() == StatusCode::kCancelled) return outputs.status();
      if (shared_.interrupted.load() != 0) return Cancelled("interrupted");
      if (outputs.ok()) {
        Count(*outputs, answer);
        for (const SkippedOutput& output : side.probe->runner().skipped()) {
          answer.not_compared.push_back(output.name);
        }
        answer.beside = first_name;
        if (first) HoldAgainstFirst(*first, *outputs, answer, coverage_);
        if (!first) first_name = answer.runner;
        if (!first) first = *std::move(outputs);
      } else {
        answer.failure = outputs.status().message();
        if (side.probe != nullptr) {
          answer.failure +=
              NoteOfFreeSizes(plan_.inputs, side.probe->runner().session().inputs, tried_sizes_);
        }
        side.probe.reset();
      }
      observer_(answer);
      record_.answers.push_back(std::move(answer));
    }
    return {};
  }

  Result<TensorMap> Infer(Side& side, const TensorMap& feed) {
    if (side.probe == nullptr) {  // it died of an earlier set
      VERNIER_ASSIGN_OR_RETURN(side.probe, Probe::Open(shared_, *side.plan, *side.model));
    }
    VERNIER_ASSIGN_OR_RETURN(const TensorMap own, side.probe->Coerce(feed, shared_.logger));
    return side.probe->Infer(own);
  }

  const RunPlan& plan_;
  const Probe::Shared& shared_;
  const ExtremeObserver& observer_;
  std::optional<TensorMap> feed_;
  std::vector<Side> sides_;
  Coverage coverage_;
  int64_t tried_sizes_ = 0;
  ExtremesRecord record_;
};

}  // namespace

Result<ExtremesRecord> CheckExtremes(const RunPlan& plan, std::span<const ExtremeSetRow> sets,
                                     const Probe::Shared& shared, const ExtremeObserver& observer) {
  return ExtremesCheck(plan, shared, observer).Run(sets);
}

}  // namespace vernier
