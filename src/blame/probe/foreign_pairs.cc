#include "blame/probe/foreign_pairs.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "compare/exporter_names.h"
#include "compare/value_pairing.h"

namespace vernier {
namespace {

// Partners that are this near show that everything before them is right.
constexpr double kSoundError = 1e-4;
// So much farther than the nearest on the other side may a copy of it be, by its rounding.
constexpr double kRoundingSlack = 1e-6;
// What makes a pair by most values: so many times fewer elements differ than in any other pair.
constexpr double kUnequalMargin = 3;

// Operators that hand on the values of their first input in another layout.
constexpr std::string_view kLayoutOperators[] = {"Identity", "Cast",    "Dropout",   "Flatten",
                                                 "Reshape",  "Squeeze", "Unsqueeze", "Transpose"};

bool KeepsValues(std::string_view op) {
  return std::find(std::begin(kLayoutOperators), std::end(kLayoutOperators), op) !=
         std::end(kLayoutOperators);
}

// One tensor of a side.
struct Listed {
  std::string_view name;
  const Tensor* tensor = nullptr;
  Tensor squeezed;  // without axes of length 1
  ValueSummary values;
  std::string plain_name;
};

Listed ListTensor(std::string_view name, const Tensor& tensor) {
  Listed listed{name, &tensor, tensor, {}, PlainTensorName(name)};
  Result<Tensor> squeezed = tensor.Reshaped(WithoutUnitAxes(tensor.dims()));
  if (squeezed.ok()) listed.squeezed = *std::move(squeezed);
  if (Kind(tensor.dtype()) == DTypeKind::kFloat) listed.values = SummariseValues(tensor);
  return listed;
}

bool AreOfOneSize(const Listed& a, const Listed& b) {
  return a.tensor->dtype() == b.tensor->dtype() &&
         a.tensor->element_count() == b.tensor->element_count();
}

std::optional<ValueDistance> DistanceOf(const Listed& a, const Listed& b) {
  return DistanceOfValues(a.squeezed, b.squeezed);
}

// Do two tensors of one side hold the same bits, in whatever layout?
bool AreCopies(const Listed& a, const Listed& b) {
  if (!AreOfOneSize(a, b) || LeastErrorBetween(a.values, b.values) > kRoundingSlack) return false;
  const std::optional<ValueDistance> distance = DistanceOf(a, b);
  return distance && distance->error == 0;
}

// A tensor of the reference near one of the candidate's.
struct Near {
  size_t reference = 0;
  ValueDistance distance;
};

class ForeignPairing {
 public:
  explicit ForeignPairing(const ForeignSides& sides) : sides_(sides) {
    ListCandidate();
    for (const NamedTensor& ours : sides.reference_tensors) {
      reference_.push_back(ListTensor(ours.name, ours.tensor));
    }
    partners_.resize(candidate_.size());
  }

  ForeignPairs Make() {
    MeasureDistances();
    const std::unordered_map<size_t, size_t> outputs = FindOutputs();
    for (size_t i = 0; i < candidate_.size(); ++i) {
      const auto output = outputs.find(i);
      if (output == outputs.end()) {
        PairNearest(i);
      } else {
        Pair(i, output->second, ForeignMatch::kOutput);
      }
    }
    for (size_t i = 0; i < candidate_.size(); ++i) {
      if (!partners_[i] && IsSuspect(i)) PairSuspect(i);
    }
    return Finish();
  }

 private:
  struct Partner {
    size_t reference = 0;
    ForeignMatch how = ForeignMatch::kValue;
    double error = 0;
    std::vector<size_t> axes;
  };

  void ListCandidate() {
    const BlameGraph& graph = sides_.candidate;
    std::unordered_map<std::string_view, const Tensor*> tensors;
    for (const NamedTensor& one : sides_.candidate_tensors) tensors[one.name] = &one.tensor;
    for (const uint32_t node : graph.order()) {
      for (const std::string_view name : graph.graph().Outputs(graph.graph().nodes[node])) {
        const auto found = tensors.find(name);
        if (found == tensors.end() || graph.IsConstant(name)) continue;
        places_[name] = candidate_.size();
        candidate_.push_back(ListTensor(name, *found->second));
        nodes_.push_back(node);
      }
    }
    readers_.resize(candidate_.size());
    for (size_t i = 0; i < candidate_.size(); ++i) {
      for (const size_t read : NamesReadBy(i)) readers_[read].push_back(i);
    }
  }

  // The candidate's tensors that the node of one of them reads.
  std::vector<size_t> NamesReadBy(size_t i) const {
    const OnnxGraph& graph = sides_.candidate.graph();
    std::vector<size_t> read;
    for (const std::string_view name : graph.Inputs(graph.nodes[nodes_[i]])) {
      const auto found = places_.find(name);
      if (found != places_.end()) read.push_back(found->second);
    }
    return read;
  }

  void MeasureDistances() {
    near_.resize(candidate_.size());
    least_.assign(reference_.size(), std::numeric_limits<double>::infinity());
    for (size_t i = 0; i < candidate_.size(); ++i) {
      for (size_t j = 0; candidate_[i].values.decides && j < reference_.size(); ++j) {
        const Listed &theirs = candidate_[i], &ours = reference_[j];
        if (!ours.values.decides || !AreOfOneSize(theirs, ours)) continue;
        std::optional<ValueDistance> distance =
            DistanceWithin(theirs.squeezed, theirs.values, ours.squeezed, ours.values);
        if (!distance) continue;
        least_[j] = std::min(least_[j], distance->error);
        near_[i].push_back({j, *std::move(distance)});
      }
      std::stable_sort(near_[i].begin(), near_[i].end(), [](const Near& a, const Near& b) {
        return a.distance.error < b.distance.error;
      });
    }
  }

  // The reference's by the candidate's.
  std::unordered_map<size_t, size_t> FindOutputs() const {
    std::unordered_map<size_t, size_t> found;
    for (const auto& [theirs, ours] : sides_.outputs) {
      const auto place = places_.find(theirs);
      const auto partner = std::find_if(reference_.begin(), reference_.end(),
                                        [&](const Listed& one) { return one.name == ours; });
      if (place == places_.end() || partner == reference_.end()) continue;
      if (!AreOfOneSize(candidate_[place->second], *partner)) continue;
      found.emplace(place->second, static_cast<size_t>(partner - reference_.begin()));
    }
    return found;
  }

  // Those of the nearest that cannot be told from the first; empty where others are nearly as near.
  std::vector<Near> NearestOf(size_t i) const {
    const std::vector<Near>& near = near_[i];
    if (near.empty()) return {};
    const double error = near.front().distance.error;
    std::vector<Near> nearest;
    for (const Near& one : near) {
      if (one.distance.error > kPairMargin * error) break;
      const auto apart = DistanceOf(reference_[near.front().reference], reference_[one.reference]);
      if (!apart || apart->error * kPairMargin > error) return {};
      nearest.push_back(one);
    }
    return IsAlone(i, nearest) ? nearest : std::vector<Near>();
  }

  // Are all others kPairMargin times as far, also those that are not among the near ones?
  bool IsAlone(size_t i, const std::vector<Near>& nearest) const {
    const double least = kPairMargin * nearest.front().distance.error;
    if (least <= kMostPairError) return true;
    for (size_t j = 0; j < reference_.size(); ++j) {
      const Listed &theirs = candidate_[i], &ours = reference_[j];
      const bool known = std::any_of(nearest.begin(), nearest.end(),
                                     [&](const Near& one) { return one.reference == j; });
      if (known || !ours.values.decides || !AreOfOneSize(theirs, ours)) continue;
      if (LeastErrorBetween(theirs.values, ours.values) >= least) continue;
      const std::optional<ValueDistance> distance = DistanceOf(theirs, ours);
      if (distance && distance->error < least) return false;
    }
    return true;
  }

  void PairNearest(size_t i) {
    const std::vector<Near> nearest = NearestOf(i);
    const Near* best = nullptr;
    for (const Near& one : nearest) {
      const bool named = reference_[one.reference].plain_name == candidate_[i].plain_name;
      if (named && !IsUsed(one.reference)) best = &one;
    }
    for (const Near& one : nearest) {
      if (best == nullptr && !IsUsed(one.reference)) best = &one;
    }
    // What a node computes is another tensor than what it reads, be the values the same.
    if (best == nullptr && !nearest.empty() && OnlyMovesPaired(i)) best = &nearest.front();
    if (best == nullptr) return;
    const double error = best->distance.error;
    // Another tensor of the candidate may have more of a right to it.
    if (error > kPairMargin * least_[best->reference] + kRoundingSlack) return;
    const bool named = std::any_of(nearest.begin(), nearest.end(), [&](const Near& one) {
      return reference_[one.reference].plain_name == candidate_[i].plain_name;
    });
    SetPartner(i, {best->reference, named ? ForeignMatch::kName : ForeignMatch::kValue, error,
                   best->distance.axes});
  }

  bool OnlyMovesPaired(size_t i) const {
    const OnnxGraph& graph = sides_.candidate.graph();
    const std::vector<size_t> read = NamesReadBy(i);
    return KeepsValues(graph.nodes[nodes_[i]].op_type) && !read.empty() && partners_[read.front()];
  }

  bool IsUsed(size_t reference) const {
    return std::any_of(used_.begin(), used_.end(), [&](size_t used) {
      return used == reference || AreCopies(reference_[used], reference_[reference]);
    });
  }

  // A fault of its node, or before it, explains that it has no partner: what it reads has some, and
  // nothing behind it is right again.
  bool IsSuspect(size_t i) const {
    const BlameGraph& graph = sides_.candidate;
    for (const std::string_view name : graph.graph().Inputs(graph.graph().nodes[nodes_[i]])) {
      if (!graph.IsMade(name) || graph.IsConstant(name)) continue;
      const auto read = places_.find(name);
      if (read == places_.end() || !partners_[read->second]) return false;
    }
    return !IsSoundBehind(i);
  }

  bool IsSoundBehind(size_t first) const {
    std::vector<size_t> open = {first};
    std::vector<bool> seen(candidate_.size(), false);
    while (!open.empty()) {
      const size_t i = open.back();
      open.pop_back();
      for (const size_t reader : readers_[i]) {
        if (seen[reader]) continue;
        seen[reader] = true;
        if (!partners_[reader]) {
          open.push_back(reader);
        } else if (partners_[reader]->error <= kSoundError) {
          return true;
        }
      }
    }
    return false;
  }

  void PairSuspect(size_t i) {
    std::vector<size_t> free;
    for (size_t j = 0; j < reference_.size(); ++j) {
      const bool usable =
          AreOfOneSize(candidate_[i], reference_[j]) && reference_[j].values.decides && !IsUsed(j);
      if (usable) free.push_back(j);
    }
    if (PairByMostValues(i, free) || PairByName(i)) return;
    const auto rivals =
        std::count_if(candidate_.begin(), candidate_.end(), [&](const Listed& other) {
          return AreOfOneSize(other, candidate_[i]) && !partners_[places_.at(other.name)];
        });
    const bool one_left = std::all_of(free.begin(), free.end(), [&](size_t j) {
      return AreCopies(reference_[j], reference_[free.front()]);
    });
    if (!free.empty() && one_left && rivals == 1) Pair(i, free.front(), ForeignMatch::kOnlyOnes);
  }

  // A name decides between copies of one tensor, too.
  bool PairByName(size_t i) {
    const Listed& theirs = candidate_[i];
    std::vector<size_t> named;
    for (size_t j = 0; j < reference_.size(); ++j) {
      const Listed& ours = reference_[j];
      const bool taken = std::find(used_.begin(), used_.end(), j) != used_.end();
      // Values that are all the same do not say in which order the axes are.
      const bool clear = theirs.values.decides || theirs.squeezed.dims() == ours.squeezed.dims();
      const bool fits = AreOfOneSize(theirs, ours) && ours.values.decides && clear && !taken;
      if (fits && ours.plain_name == theirs.plain_name) named.push_back(j);
    }
    if (named.size() == 1) Pair(i, named.front(), ForeignMatch::kName);
    return named.size() == 1;
  }

  bool PairByMostValues(size_t i, const std::vector<size_t>& free) {
    if (!candidate_[i].values.decides) return false;
    std::optional<size_t> best;
    ValueShare most;
    double next = 0;
    for (const size_t j : free) {
      std::optional<ValueShare> share =
          ShareOfEqualValues(candidate_[i].squeezed, reference_[j].squeezed);
      if (!share) continue;
      if (best && share->equal <= most.equal) {
        if (!AreCopies(reference_[j], reference_[*best])) next = std::max(next, share->equal);
        continue;
      }
      if (best && !AreCopies(reference_[j], reference_[*best])) next = most.equal;
      best = j;
      most = *std::move(share);
    }
    if (!best || kUnequalMargin * (1 - most.equal) > 1 - next) return false;
    Pair(i, *best, ForeignMatch::kMostValues, most.axes);
    return true;
  }

  // Where nothing says in which order the axes are, the values do.
  void Pair(size_t i, size_t reference, ForeignMatch how,
            std::optional<std::vector<size_t>> axes = {}) {
    const std::optional<ValueDistance> distance = DistanceOf(candidate_[i], reference_[reference]);
    const double error = distance ? distance->error : std::numeric_limits<double>::infinity();
    if (!axes) axes = distance ? distance->axes : std::vector<size_t>();
    SetPartner(i, {reference, how, error, *std::move(axes)});
  }

  void SetPartner(size_t i, Partner partner) {
    used_.push_back(partner.reference);
    partners_[i] = std::move(partner);
  }

  ForeignPairs Finish() const {
    ForeignPairs found;
    for (size_t i = 0; i < candidate_.size(); ++i) {
      const std::optional<Partner>& partner = partners_[i];
      if (!partner) {
        found.candidate_alone.push_back(candidate_[i].name);
        continue;
      }
      found.pairs.push_back({candidate_[i].name,
                             std::string(reference_[partner->reference].name),
                             partner->how,
                             partner->error,
                             {partner->axes, candidate_[i].tensor->dims()}});
    }
    for (size_t j = 0; j < reference_.size(); ++j) {
      if (reference_[j].values.decides && !IsUsed(j)) {
        found.reference_alone.emplace_back(reference_[j].name);
      }
    }
    return found;
  }

  const ForeignSides& sides_;
  std::vector<Listed> candidate_, reference_;
  std::vector<uint32_t> nodes_;  // that make the candidate's tensors
  std::unordered_map<std::string_view, size_t> places_;
  std::vector<std::vector<size_t>> readers_;
  std::vector<std::vector<Near>> near_;  // to each of the candidate's, the nearest first
  std::vector<double> least_;            // how near any of the candidate's is to the reference's
  std::vector<std::optional<Partner>> partners_;
  std::vector<size_t> used_;
};

}  // namespace

std::string_view ForeignMatchName(ForeignMatch match) {
  switch (match) {
    case ForeignMatch::kOutput:
      return "output";
    case ForeignMatch::kName:
      return "name";
    case ForeignMatch::kValue:
      return "value";
    case ForeignMatch::kMostValues:
      return "most values";
    case ForeignMatch::kOnlyOnes:
      return "shape";
  }
  return "value";
}

ForeignPairs PairForeignTensors(const ForeignSides& sides) { return ForeignPairing(sides).Make(); }

}  // namespace vernier
