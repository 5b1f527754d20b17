#include "blame/probe/unprobed_outputs.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "vernier/compare_options.h"

namespace vernier {
namespace {

double WorstOf(const std::map<std::string, TensorJudgement>& judged) {
  double worst = 0;
  for (const auto& [name, one] : judged) worst = std::max(worst, one.times);
  return worst;
}

}  // namespace

UnprobedOutputs::UnprobedOutputs(const SideRunners& runners)
    : options_(std::make_shared<const CompareOptions>()),
      bounds_(MakeSideBounds(*options_, runners)) {}

Status UnprobedOutputs::Add(const TensorMap& feed, TensorMap reference, TensorMap candidate,
                            PairMatching& matching) {
  bounds_.SetFeed(feed);
  const bool decides = !matching.settled();
  const IterationResult ours{"", {}, reference}, theirs{"", {}, candidate};
  VERNIER_TRY(matching.Look(ours, theirs, nullptr));
  VERNIER_ASSIGN_OR_RETURN(MatchedSides sides, matching.Match(ours, theirs, nullptr));
  for (const OutputPair& pair : sides.pairing.pairs) {
    const std::string &a = sides.a().outputs[pair.a].name, &b = sides.b().outputs[pair.b].name;
    // Slices and permuted axes are those of no tensor in a graph.
    if (Find(reference, a) && Find(candidate, b)) partners_.emplace(b, a);
  }
  const Pairing& pairing = sides.pairing;
  const std::unordered_set<std::string> alone(pairing.left_only.begin(), pairing.left_only.end());
  // Until it is decided, a later feed may find a partner.
  if (matching.settled()) {
    std::erase_if(reference,
                  [&](const NamedTensor& output) { return alone.contains(output.name); });
  }
  if (decides) first_pairing_ = pairing;
  iterations_.push_back({feed, std::move(reference), std::move(candidate)});
  return {};
}

std::vector<RetypedOutput> UnprobedOutputs::Retyped() const {
  std::vector<RetypedOutput> outputs;
  if (iterations_.empty()) return outputs;
  for (const auto& [name, partner] : partners_) {
    const Tensor* ours = Find(iterations_.front().reference, partner);
    const Tensor* theirs = Find(iterations_.front().candidate, name);
    if (ours == nullptr || theirs == nullptr || ours->dtype() == theirs->dtype()) continue;
    outputs.push_back({name, ours->dtype(), theirs->dtype()});
  }
  return outputs;
}

const ErrorBounds& UnprobedOutputs::BoundsOf(size_t iteration) {
  std::vector<std::pair<std::string, std::string>> renamed;
  for (const auto& [name, partner] : partners_) {
    if (name != partner) renamed.emplace_back(partner, name);
  }
  return bounds_.For(kReferenceStream, kCandidateStream, iterations_[iteration].reference, {},
                     renamed);
}

UnprobedOutputs::Judgements UnprobedOutputs::Between(size_t iteration, Names names,
                                                     const TensorMap& ours,
                                                     const TensorMap& theirs) {
  const ErrorBounds& bounds = BoundsOf(iteration);
  PaddedTensors padded(masked_, iterations_[iteration].feed);
  Judgements judged;
  for (const auto& [name, partner] : partners_) {
    const Tensor* one = Find(ours, names == Names::kReference ? partner : name);
    const Tensor* other = Find(theirs, name);
    const ErrorBound* bound = bounds.Find(partner);
    if (one == nullptr || other == nullptr || bound == nullptr) continue;
    JudgedPair pair{one, other, *bound};
    padded.Reduce(name, pair);
    judged[name] = JudgeTensor(*pair.reference, *pair.candidate, pair.bound);
  }
  return judged;
}

UnprobedOutputs::Judgements UnprobedOutputs::AgainstReference(size_t iteration,
                                                              const TensorMap& outputs) {
  return Between(iteration, Names::kReference, iterations_[iteration].reference, outputs);
}

UnprobedOutputs::Judgements UnprobedOutputs::AgainstPlain(size_t iteration,
                                                          const TensorMap& outputs) {
  return Between(iteration, Names::kCandidate, iterations_[iteration].candidate, outputs);
}

double UnprobedOutputs::Error(size_t iteration, const TensorMap& outputs) {
  return WorstOf(AgainstReference(iteration, outputs));
}

std::map<std::string, double> UnprobedOutputs::Errors() {
  std::map<std::string, double> errors;
  for (size_t i = 0; i < iterations_.size(); ++i) {
    for (const auto& [name, judged] : AgainstReference(i, iterations_[i].candidate)) {
      errors[name] = std::max(errors[name], judged.times);
    }
  }
  return errors;
}

std::map<std::string, double> UnprobedOutputs::Bounds() {
  std::map<std::string, double> widest;
  for (size_t i = 0; i < iterations_.size(); ++i) {
    const ErrorBounds& bounds = BoundsOf(i);
    for (const auto& [name, partner] : partners_) {
      const ErrorBound* bound = bounds.Find(partner);
      if (bound != nullptr) widest[name] = std::max(widest[name], bound->rms);
    }
  }
  return widest;
}

std::map<std::string, double> UnprobedOutputs::Movements(size_t iteration,
                                                         const TensorMap& outputs) {
  std::map<std::string, double> movements;
  for (const auto& [name, judged] : AgainstPlain(iteration, outputs)) {
    movements[name] = judged.rms;
  }
  return movements;
}

std::map<std::string, double> UnprobedOutputs::TimesMoved(size_t iteration,
                                                          const TensorMap& outputs) {
  std::map<std::string, double> times;
  for (const auto& [name, judged] : AgainstPlain(iteration, outputs)) times[name] = judged.times;
  return times;
}

void UnprobedOutputs::Compare(size_t iteration, const TensorMap& probed,
                              DisturbanceRecord& record) {
  if (probed.empty()) return;
  // Only of outputs that were had both ways: what is a constant is never probed.
  TensorMap plain = iterations_[iteration].candidate;
  std::erase_if(plain, [&](const NamedTensor& output) { return !Find(probed, output.name); });
  const double plain_error = Error(iteration, plain);
  const double probed_error = Error(iteration, probed);
  const double moved = WorstOf(AgainstPlain(iteration, probed));
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
