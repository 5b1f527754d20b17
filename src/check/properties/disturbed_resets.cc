#include "check/properties/disturbed_resets.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "compare/outputs/same_bits.h"
#include "inputs/cast_tensor.h"
#include "run/runner/nudged_floats.h"
#include "util/text/first_line.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

using Change = Result<Tensor> (*)(const Tensor& tensor);

// Floats alone: what integers stand for may have a limit.
Result<Tensor> Scale(const Tensor& tensor, double factor) {
  if (!CanNudge(tensor.dtype())) return tensor;
  VERNIER_ASSIGN_OR_RETURN(const Tensor wide, CastTensor(tensor, DType::kFloat64));
  const std::span<const double> values = wide.As<double>();
  std::vector<double> scaled(values.begin(), values.end());
  for (double& value : scaled) value *= factor;
  VERNIER_ASSIGN_OR_RETURN(const Tensor made, Tensor::Copy(DType::kFloat64, tensor.dims(),
                                                           std::as_bytes(std::span(scaled))));
  return CastTensor(made, tensor.dtype());
}

Result<Tensor> Doubled(const Tensor& tensor) { return Scale(tensor, 2); }

Result<Tensor> HalvedWithTheOtherSign(const Tensor& tensor) { return Scale(tensor, -0.5); }

// The last element first: no value is another one.
Result<Tensor> Reversed(const Tensor& tensor) {
  const auto size = ByteSize(tensor.dtype(), 1);
  const std::span<const std::byte> bytes = tensor.bytes();
  const auto count = static_cast<size_t>(tensor.element_count());
  if (tensor.dtype() == DType::kString || !size || bytes.size() != count * *size) return tensor;
  std::vector<std::byte> reversed;
  reversed.reserve(bytes.size());
  for (size_t i = count; i > 0; --i) {
    const auto element = bytes.subspan((i - 1) * *size, *size);
    reversed.insert(reversed.end(), element.begin(), element.end());
  }
  return Tensor::Copy(tensor.dtype(), tensor.dims(), reversed);
}

struct NamedChange {
  std::string_view what;
  Change change;
};

constexpr NamedChange kChanges[] = {{"doubled inputs", Doubled},
                                    {"reversed inputs", Reversed},
                                    {"inputs halved with the other sign", HalvedWithTheOtherSign}};

Result<TensorMap> Changed(const TensorMap& feed, Change change) {
  TensorMap changed;
  for (const NamedTensor& input : feed) {
    VERNIER_ASSIGN_OR_RETURN(Tensor tensor, change(input.tensor));
    changed.push_back({input.name, std::move(tensor)});
  }
  return changed;
}

}  // namespace

bool MayKeepState(const RunnerSession& runner) {
  return runner.keeps_state() || runner.inputs_unknown();
}

std::vector<DisturbedResets::Feed> DisturbedResets::OtherFeeds(const TensorMap& feed) {
  std::vector<Feed> others;
  const auto add = [&](std::string_view what, Result<TensorMap> other) {
    if (other.ok() && !SameBits(feed, *other)) {
      others.push_back({std::string(what), *std::move(other)});
    }
  };
  add("other inputs", subject_.bench.Another(feed));
  for (const auto& [what, change] : kChanges) add(what, Changed(feed, change));
  // Their number may count where nothing else can differ.
  if (others.empty()) others.push_back({"the same inputs", feed});
  return others;
}

// How many inferences there were after the reset: fewer where the next one fails.
int64_t DisturbedResets::Disturb(const Sample& sample, const TensorMap& other, int64_t count) {
  Probe& probe = *subject_.probe;
  const Result<TensorMap> first = probe.Infer(other);
  if (!first.ok()) {
    refusal_ = FirstLine(first.status().message());
    OpenAgain(sample);
    return 0;
  }
  const Probe::Continuation later = probe.GoOn(other, count - 1);
  if (!later.failure.ok()) OpenAgain(sample);
  return 1 + static_cast<int64_t>(later.outputs.size());
}

// It may go by its first inference, which is that of the sample as before.
void DisturbedResets::OpenAgain(const Sample& sample) {
  if (subject_.probe->runner().lost_worker()) return;
  Result<std::unique_ptr<Probe>> fresh = subject_.runner.Open();
  if (!fresh.ok() || !(*fresh)->Infer(sample.feed).ok()) return;
  subject_.probe = *std::move(fresh);
}

bool DisturbedResets::HoldBehind(const Feed& other, int64_t count, const Sample& sample,
                                 const std::vector<TensorMap>& expected) {
  const int64_t made = Disturb(sample, other.tensors, count);
  // What one that failed has left is not the state of a session.
  const bool lost = subject_.probe->runner().lost_worker();
  if (made > 0 && made < count && !lost && Disturb(sample, other.tensors, made) < made) return true;
  Probe& probe = *subject_.probe;
  if (made == 0 || probe.runner().lost_worker()) return true;
  ++done_;
  const std::string_view reset = probe.runner().keeps_state() ? "a reset that followed " : "";
  const std::string what =
      "after " + std::string(reset) + Counted(made, "inference") + " with " + other.what;
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string which = i == 0 ? "" : ", inference " + std::to_string(i + 1);
    const Result<TensorMap> found =
        i == 0 ? probe.Infer(sample.feed) : probe.InferUnreset(sample.feed);
    if (!trial_.HoldMore(what + sample.size + which, expected[i], found)) return false;
  }
  return true;
}

bool DisturbedResets::Hold(const Sample& sample, const std::vector<TensorMap>& expected) {
  const Probe& probe = *subject_.probe;
  if (!MayKeepState(probe.runner())) return true;
  std::vector<int64_t> counts = {1};
  if (probe.runner().keeps_state()) counts.push_back(static_cast<int64_t>(expected.size()) + 1);
  for (const Feed& other : OtherFeeds(sample.feed)) {
    for (const int64_t count : counts) {
      if (subject_.probe->runner().lost_worker()) return true;
      if (!HoldBehind(other, count, sample, expected)) return false;
    }
  }
  return true;
}

std::string DisturbedResets::Describe() const {
  const RunnerSession& runner = subject_.probe->runner();
  if (!MayKeepState(runner)) return "";
  const std::string reset = runner.keeps_state() ? "reset" : "run";
  if (done_ == 0 && refusal_.empty()) return "";
  if (done_ == 0) {
    return "not tried after " + reset +
           "s that follow other inputs, which the runner refuses: " + refusal_;
  }
  return runner.keeps_state()
             ? "also after " + Counted(done_, "reset") + " that followed other inputs"
             : "also after " + Counted(done_, "run") + " with other inputs";
}

}  // namespace vernier
