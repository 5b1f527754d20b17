#include "check/properties/memory_properties.h"

#include <algorithm>
#include <utility>

#include "check/properties/trial.h"
#include "check/properties/unwritten.h"

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

using Outcomes = std::vector<Worker::TrialOutcome>;

// Of each sample, one after the other, in a process of its own: what was tried may have left its
// mark on it.
Result<Outcomes> TryAnew(const Subject& subject, const TrialRequest& request) {
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<Probe> probe, subject.runner.Open());
  Outcomes outcomes;
  for (const Sample& sample : subject.samples) {
    // The first outputs may lie in memory that was given before they were asked for.
    if (request.fill) VERNIER_TRY(probe->Infer(sample.feed).status());
    VERNIER_ASSIGN_OR_RETURN(Worker::TrialOutcome outcome, probe->TryInfer(sample.feed, request));
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

// What TryAnew() does where outputs are filled, without that.
Result<std::vector<TensorMap>> SecondOutputs(const Subject& subject) {
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<Probe> probe, subject.runner.Open());
  std::vector<TensorMap> outputs;
  for (const Sample& sample : subject.samples) {
    VERNIER_TRY(probe->Infer(sample.feed).status());
    VERNIER_ASSIGN_OR_RETURN(TensorMap second, probe->Infer(sample.feed));
    outputs.push_back(std::move(second));
  }
  return outputs;
}

Result<std::vector<TensorMap>> OutputsOf(Result<Outcomes> outcomes) {
  if (!outcomes.ok()) return outcomes.status();
  std::vector<TensorMap> outputs;
  for (Worker::TrialOutcome& outcome : *outcomes) outputs.push_back(std::move(outcome.outputs));
  return outputs;
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

// One of the runs of a process, in their order.
struct WatchedRun {
  std::string what;
  const TensorMap& feed;
  size_t which;  // equal for runs of one feed
  bool of_rows = false;
};

// A runner may write to its inputs only after the first run, or only for more rows than one.
std::vector<WatchedRun> RunsToWatch(const Subject& subject) {
  std::vector<WatchedRun> runs;
  for (int64_t round = 1; round <= subject.repeats; ++round) {
    const std::string what = round == 1 ? "one run" : "run " + std::to_string(round);
    for (size_t i = 0; i < subject.samples.size(); ++i) {
      runs.push_back({what + subject.samples[i].size, subject.samples[i].feed, i});
    }
  }
  const RowPlan& plan = subject.bench.Rows();
  if (!plan.rows) return runs;
  const std::string rows =
      "a batch of " + std::to_string(CountRows(*plan.rows, plan.batch)) + " rows";
  const size_t which = subject.samples.size();
  runs.push_back({rows, *plan.rows, which, true});
  runs.push_back({rows + ", once more", *plan.rows, which, true});
  return runs;
}

Result<std::vector<TensorMap>> InferPerturbed(const Subject& subject, size_t fill) {
  return InferAnew(subject, {.environment = {std::string(kPerturbed[fill])}});
}

// How the first sample differs whose outputs are apart; kSameBits where none are.
Agreement FindApart(const Subject& subject, const std::vector<TensorMap>& a,
                    const std::vector<TensorMap>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    Agreement agreement = HoldAgainst(a[i], b[i], subject.compare, &subject.bounds);
    if (agreement.closeness == Closeness::kApart) return agreement;
  }
  return {};
}

bool Differ(const Subject& subject, const std::vector<TensorMap>& a,
            const std::vector<TensorMap>& b) {
  return FindApart(subject, a, b).closeness == Closeness::kApart;
}

// Where every process makes other outputs anyway, the filling decides if equal fillings make equal
// outputs and others do not.
bool FollowsTheFilling(const Subject& subject, const std::vector<TensorMap>& first,
                       const std::vector<TensorMap>& second) {
  if (!Differ(subject, first, second)) return false;
  const auto again = InferPerturbed(subject, 0);
  if (!again.ok() || Differ(subject, first, *again)) return false;
  const auto other = InferPerturbed(subject, 1);
  return other.ok() && !Differ(subject, second, *other);
}

// Of which samples alone the runner made outputs in the memory that was given, in words; empty
// where it did so of all.
std::string PlacedOnly(const Subject& subject, const Outcomes& outcomes) {
  std::string which;
  size_t count = 0;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].report.placed == 0) continue;
    const std::string& size = subject.samples[i].size;
    which += (count++ == 0 ? "" : " and ") + (size.empty() ? "the first inputs" : size.substr(2));
  }
  if (count == outcomes.size()) return {};
  return "filled for " + which + " alone: the other outputs are in memory of the runner's own";
}

}  // namespace

PropertyRecord ReadOnlyInputs(Subject& subject) {
  if (subject.feed().empty()) return NotApplicable("the model has no inputs");
  Trial trial(subject);
  const Result<std::unique_ptr<Probe>> probe = subject.runner.Open();
  if (!probe.ok()) {
    trial.Break("a second process", probe.status().message());
    return trial.Finish("");
  }
  std::vector<TensorMap> first_outputs;
  for (const WatchedRun& run : RunsToWatch(subject)) {
    Result<Worker::TrialOutcome> outcome = (*probe)->TryInfer(run.feed, {});
    // That it does not run with several rows is another property's to say.
    if (!outcome.ok() && run.of_rows) break;
    if (!outcome.ok()) {
      trial.Break(run.what, outcome.status().message());
      return trial.Finish("");
    }
    if (!outcome->report.written.empty()) {
      trial.Break(run.what, DescribeWritten(outcome->report.written.front(), run.feed));
      return trial.Finish("");
    }
    if (run.which >= first_outputs.size()) {
      if (run.which > 0) trial.Count();
      first_outputs.push_back(std::move(outcome->outputs));
    } else if (!trial.Hold(run.what, first_outputs[run.which], outcome->outputs)) {
      return trial.Finish("");
    }
  }
  first_outputs.resize(std::min(first_outputs.size(), subject.samples.size()));
  trial.HoldAnew("one run", first_outputs);
  return trial.Finish("runs on inputs that could be written to, none was", subject.sizes);
}

PropertyRecord InputAlignment(Subject& subject) {
  if (subject.feed().empty()) return NotApplicable("the model has no inputs");
  Trial trial(subject);
  for (const uint64_t shift : ShiftsFor(subject.feed())) {
    const std::string what =
        "inputs that begin " + std::to_string(shift) + " bytes after a multiple of 64";
    if (!trial.HoldAnew(what, OutputsOf(TryAnew(subject, {.shift = shift})))) break;
  }
  return trial.Finish("places", subject.sizes);
}

PropertyRecord PoisonedOutputs(Subject& subject) {
  Trial trial(subject);
  std::string placed = subject.sizes;
  std::vector<std::vector<TensorMap>> filled;  // of each filling the outputs of each sample
  for (const uint8_t fill : kFills) {
    const std::string what = "memory filled with " + FormatFill(fill);
    Result<Outcomes> outcomes = TryAnew(subject, {.fill = fill});
    if (!outcomes.ok()) {
      trial.Break(what, outcomes.status().message());
      return trial.Finish("");
    }
    const auto is_own = [](const Worker::TrialOutcome& each) { return each.report.placed == 0; };
    if (std::ranges::all_of(*outcomes, is_own)) {
      return NotApplicable(
          "the runner makes its outputs in memory of its own, which uninitialised-memory fills");
    }
    if (const std::string only = PlacedOnly(subject, *outcomes); !only.empty()) placed = only;
    filled.push_back(*OutputsOf(std::move(outcomes)));
  }
  for (size_t i = 0; i < subject.samples.size(); ++i) {
    const auto hole = FindUnwritten({kFills[0], filled[0][i]}, {kFills[1], filled[1][i]});
    if (!hole) continue;
    trial.Break("one run" + subject.samples[i].size, *hole);
    return trial.Finish("");
  }
  for (size_t i = 0; i < filled.size(); ++i) {
    if (!trial.HoldAnew("memory filled with " + FormatFill(kFills[i]), filled[i],
                        [&] { return SecondOutputs(subject); })) {
      break;
    }
  }
  return trial.Finish("fillings", placed);
}

PropertyRecord UninitialisedMemory(Subject& subject) {
  Trial trial(subject);
  const auto first = InferPerturbed(subject, 0);
  const auto second = InferPerturbed(subject, 1);
  if (first.ok() && second.ok() && FollowsTheFilling(subject, *first, *second)) {
    const Agreement apart = FindApart(subject, *first, *second);
    trial.Break(
        "memory filled with " + FormatFill(kFills[1]) + " instead of " + FormatFill(kFills[0]),
        apart.where);
    return trial.Finish("");
  }
  if (trial.HoldAnew("memory filled with " + FormatFill(kFills[0]), first)) {
    trial.HoldAnew("memory filled with " + FormatFill(kFills[1]), second);
  }
  return trial.Finish("fillings", subject.sizes);
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
