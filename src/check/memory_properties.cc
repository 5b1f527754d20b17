#include "check/memory_properties.h"

#include <utility>

#include "check/trial.h"
#include "check/unwritten.h"

namespace vernier {
namespace {

// From what vector instructions want down to a single byte; rounded up to whole elements.
constexpr uint64_t kShifts[] = {32, 16, 8, 4, 2, 1};

constexpr uint8_t kFills[] = {0x55, 0xAA};

// Fills fresh and freed memory with a byte and its opposite; blocks of all sizes come from the
// heap, because pages that the system maps are zero.
constexpr std::string_view kPerturbed[] = {
    "GLIBC_TUNABLES=glibc.malloc.perturb=85:glibc.malloc.mmap_threshold=4294967296",
    "GLIBC_TUNABLES=glibc.malloc.perturb=170:glibc.malloc.mmap_threshold=4294967296"};

std::string FormatFill(uint8_t fill) { return fill == kFills[0] ? "0x55" : "0xAA"; }

std::string DescribeWritten(const WrittenInput& input, const TensorMap& feed) {
  const Tensor* const tensor = Find(feed, input.name);
  const std::optional<uint64_t> item =
      tensor == nullptr ? std::nullopt : ByteSize(tensor->dtype(), 1);
  std::string text = "input '" + input.name + "'";
  if (item && tensor->dtype() != DType::kString) {
    text += " at " + FormatPlace(static_cast<int64_t>(input.first / *item), tensor->dims());
  }
  return text + " was written to, " + std::to_string(input.bytes) + " bytes are no longer what " +
         "they were";
}

// In a process of its own: what was tried may have left its mark on it.
Result<Worker::TrialOutcome> TryAnew(const Subject& subject, const TrialRequest& request) {
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<Probe> probe,
                           Probe::Open(subject.shared, subject.plan, subject.model));
  // The first outputs may lie in memory that was given before they were asked for.
  if (request.fill) VERNIER_TRY(probe->Infer(subject.feed).status());
  return probe->TryInfer(subject.feed, request);
}

// What TryAnew() does where outputs are filled, without that.
Result<TensorMap> SecondOutputs(const Subject& subject) {
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<Probe> probe,
                           Probe::Open(subject.shared, subject.plan, subject.model));
  VERNIER_TRY(probe->Infer(subject.feed).status());
  return probe->Infer(subject.feed);
}

Result<TensorMap> OutputsOf(Result<Worker::TrialOutcome> outcome) {
  if (!outcome.ok()) return outcome.status();
  return std::move(outcome->outputs);
}

// The shifts that differ for at least one input.
std::vector<uint64_t> ShiftsFor(const TensorMap& feed) {
  std::vector<uint64_t> shifts;
  for (const uint64_t shift : kShifts) {
    bool differs = false;
    for (const NamedTensor& input : feed) differs |= ShiftFor(input.tensor.dtype(), shift) == shift;
    if (differs) shifts.push_back(shift);
  }
  return shifts;
}

Result<TensorMap> InferPerturbed(const Subject& subject, size_t fill) {
  return InferAnew(subject, {.environment = {std::string(kPerturbed[fill])}});
}

bool Differ(const Subject& subject, const TensorMap& a, const TensorMap& b) {
  return HoldAgainst(a, b, subject.compare, &subject.bars).closeness == Closeness::kApart;
}

// Where every process makes other outputs anyway, the filling decides if equal fillings make equal
// outputs and others do not.
bool FollowsTheFilling(const Subject& subject, const TensorMap& first, const TensorMap& second) {
  if (!Differ(subject, first, second)) return false;
  const Result<TensorMap> again = InferPerturbed(subject, 0);
  if (!again.ok() || Differ(subject, first, *again)) return false;
  const Result<TensorMap> other = InferPerturbed(subject, 1);
  return other.ok() && !Differ(subject, second, *other);
}

}  // namespace

PropertyRecord ReadOnlyInputs(Subject& subject) {
  if (subject.feed.empty()) return NotApplicable("the model has no inputs");
  Trial trial(subject);
  const Result<Worker::TrialOutcome> outcome = TryAnew(subject, {});
  if (outcome.ok() && !outcome->report.written.empty()) {
    trial.Break("one run", DescribeWritten(outcome->report.written.front(), subject.feed));
    return trial.Finish("");
  }
  trial.HoldAnew("one run", OutputsOf(outcome));
  return trial.Finish("run on inputs that could be written to, none was");
}

PropertyRecord InputAlignment(Subject& subject) {
  if (subject.feed.empty()) return NotApplicable("the model has no inputs");
  Trial trial(subject);
  for (const uint64_t shift : ShiftsFor(subject.feed)) {
    const std::string what =
        "inputs that begin " + std::to_string(shift) + " bytes behind a multiple of 64";
    if (!trial.HoldAnew(what, OutputsOf(TryAnew(subject, {.shift = shift})))) break;
  }
  return trial.Finish("places");
}

PropertyRecord PoisonedOutputs(Subject& subject) {
  Trial trial(subject);
  std::vector<TensorMap> filled;
  for (const uint8_t fill : kFills) {
    const std::string what = "memory filled with " + FormatFill(fill);
    Result<Worker::TrialOutcome> outcome = TryAnew(subject, {.fill = fill});
    if (!outcome.ok()) {
      trial.Break(what, outcome.status().message());
      return trial.Finish("");
    }
    if (outcome->report.placed == 0) {
      return NotApplicable(
          "the runner makes its outputs in memory of its own, which uninitialised-memory fills");
    }
    filled.push_back(std::move(outcome->outputs));
  }
  if (const auto hole = FindUnwritten({kFills[0], filled[0]}, {kFills[1], filled[1]})) {
    trial.Break("one run", *hole);
    return trial.Finish("");
  }
  for (size_t i = 0; i < filled.size(); ++i) {
    if (!trial.HoldAnew("memory filled with " + FormatFill(kFills[i]), filled[i],
                        [&] { return SecondOutputs(subject); })) {
      break;
    }
  }
  return trial.Finish("fillings");
}

PropertyRecord UninitialisedMemory(Subject& subject) {
  Trial trial(subject);
  const Result<TensorMap> first = InferPerturbed(subject, 0);
  const Result<TensorMap> second = InferPerturbed(subject, 1);
  if (first.ok() && second.ok() && FollowsTheFilling(subject, *first, *second)) {
    const Agreement apart = HoldAgainst(*first, *second, subject.compare, &subject.bars);
    trial.Break(
        "memory filled with " + FormatFill(kFills[1]) + " instead of " + FormatFill(kFills[0]),
        apart.where);
    return trial.Finish("");
  }
  if (trial.HoldAnew("memory filled with " + FormatFill(kFills[0]), first)) {
    trial.HoldAnew("memory filled with " + FormatFill(kFills[1]), second);
  }
  return trial.Finish("fillings");
}

std::string ExplainDeath(const Probe::Shared& shared, const RunnerPlan& plan,
                         const ModelSource& model, const TensorMap& feed) {
  const Result<std::unique_ptr<Probe>> probe = Probe::Open(shared, plan, model);
  if (!probe.ok()) return {};
  const Result<Worker::TrialOutcome> outcome = (*probe)->TryInfer(feed, {});
  if (!outcome.ok() || outcome->report.written.empty()) return {};
  return "it writes into its input '" + outcome->report.written.front().name +
         "', which is read-only";
}

}  // namespace vernier
