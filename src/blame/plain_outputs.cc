#include "blame/plain_outputs.h"

#include <algorithm>

namespace vernier {
namespace {

double WorstOf(const std::map<std::string, TensorJudgement>& judged) {
  double worst = 0;
  for (const auto& [name, one] : judged) worst = std::max(worst, one.times);
  return worst;
}

}  // namespace

void PlainOutputs::Add(const TensorMap& feed, TensorMap reference, TensorMap candidate) {
  bars_->SetFeed(feed);
  iterations_.push_back({feed, std::move(reference), std::move(candidate)});
}

PlainOutputs::Judgements PlainOutputs::Between(size_t iteration, const TensorMap& ours,
                                               const TensorMap& theirs) {
  const ErrorBars& bars =
      bars_->For(kReferenceStream, kCandidateStream, iterations_[iteration].reference);
  Judgements judged;
  for (const NamedTensor& output : ours) {
    const Tensor* other = Find(theirs, output.name);
    const ErrorBar* bar = bars.Find(output.name);
    if (other == nullptr || bar == nullptr) continue;
    judged[output.name] = JudgeTensor(output.tensor, *other, *bar);
  }
  return judged;
}

double PlainOutputs::Error(size_t iteration, const TensorMap& outputs) {
  return WorstOf(Between(iteration, iterations_[iteration].reference, outputs));
}

std::map<std::string, double> PlainOutputs::Errors() {
  std::map<std::string, double> errors;
  for (size_t i = 0; i < iterations_.size(); ++i) {
    for (const auto& [name, judged] :
         Between(i, iterations_[i].reference, iterations_[i].candidate)) {
      errors[name] = std::max(errors[name], judged.times);
    }
  }
  return errors;
}

std::map<std::string, double> PlainOutputs::Movements(size_t iteration, const TensorMap& outputs) {
  std::map<std::string, double> movements;
  for (const auto& [name, judged] : Between(iteration, iterations_[iteration].candidate, outputs)) {
    movements[name] = judged.rms;
  }
  return movements;
}

void PlainOutputs::Compare(size_t iteration, const TensorMap& probed, DisturbanceRecord& record) {
  if (probed.empty()) return;
  const TensorMap& plain = iterations_[iteration].candidate;
  const double plain_error = Error(iteration, plain);
  const double probed_error = Error(iteration, probed);
  const double moved = WorstOf(Between(iteration, plain, probed));
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
