#include "blame/plain_outputs.h"

#include <algorithm>
#include <cmath>

namespace vernier {

void PlainOutputs::Add(const TensorMap& feed, TensorMap reference, TensorMap candidate) {
  bars_->SetFeed(feed);
  iterations_.push_back({feed, std::move(reference), std::move(candidate)});
}

TensorJudgement PlainOutputs::Between(size_t iteration, const TensorMap& ours,
                                      const TensorMap& theirs) {
  const ErrorBars& bars =
      bars_->For(kReferenceStream, kCandidateStream, iterations_[iteration].reference);
  TensorJudgement worst;
  for (const NamedTensor& output : ours) {
    const Tensor* other = Find(theirs, output.name);
    const ErrorBar* bar = bars.Find(output.name);
    if (other == nullptr || bar == nullptr) continue;
    const TensorJudgement judged = JudgeTensor(output.tensor, *other, *bar);
    worst.times = std::max(worst.times, judged.times);
    if (std::isfinite(judged.rms)) worst.rms = std::max(worst.rms, judged.rms);
  }
  return worst;
}

double PlainOutputs::Error(size_t iteration, const TensorMap& outputs) {
  return Between(iteration, iterations_[iteration].reference, outputs).times;
}

double PlainOutputs::Movement(size_t iteration, const TensorMap& outputs) {
  return Between(iteration, iterations_[iteration].candidate, outputs).rms;
}

void PlainOutputs::Compare(size_t iteration, const TensorMap& probed, DisturbanceRecord& record) {
  if (probed.empty()) return;
  const TensorMap& plain = iterations_[iteration].candidate;
  const double plain_error = Error(iteration, plain);
  const double probed_error = Error(iteration, probed);
  const double moved = Between(iteration, plain, probed).times;
  const bool flips = (plain_error > 1) != (probed_error > 1);
  const bool tells_more = !record.measured || (!record.shown_at && (flips || moved > record.moved));
  if (!tells_more) return;
  if (flips) record.shown_at = static_cast<int64_t>(iteration);
  record.measured = true;
  record.plain_error = plain_error;
  record.probed_error = probed_error;
  record.moved = moved;
  record.changed = flips || moved > 1;
}

}  // namespace vernier
