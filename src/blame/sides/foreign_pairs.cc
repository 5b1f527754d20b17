#include "blame/sides/foreign_pairs.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "blame/sides/listed_tensor.h"
#include "compare/pairing/value_pairing.h"

namespace vernier {
namespace {

// Partners that are this near show that everything before them is right.
constexpr double kSoundError = 1e-4;
// What makes a pair by most values: so many times fewer elements differ than in any other pair.
constexpr double kUnequalMargin = 3;
// What decides between tensors of one name: all others are so many times as far.
constexpr double kNameMargin = 2;
// Tensors that have nothing to do with each other are about so far apart.
constexpr double kUnrelatedError = 1;

// Operators that hand on the values of their first input in another layout.
constexpr std::string_view kLayoutOperators[] = {"Identity", "Cast",    "Dropout",   "Flatten",
                                                 "Reshape",  "Squeeze", "Unsqueeze", "Transpose"};

bool KeepsValues(std::string_view op) {
  return std::find(std::begin(kLayoutOperators), std::end(kLayoutOperators), op) !=
         std::end(kLayoutOperators);
}

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
        const ListedTensor &theirs = candidate_[i], &ours = reference_[j];
        if (!ours.values.decides || !AreOfOneSize(theirs, ours)) continue;
        std::optional<ValueDistance> distance =
            DistanceWithin(theirs.squeezed, theirs.values, ours.squeezed, ours.values);
        if (!distance) continue;
        least_[j] = std::min(least_[j], distance->error);
        near_[i].push_back({j, *std::move(distance)});
      }
      SortByError(near_[i]);
    }
  }

  // The reference's by the candidate's.
  std::unordered_map<size_t, size_t> FindOutputs() const {
    std::unordered_map<size_t, size_t> found;
    for (const auto& [theirs, ours] : sides_.outputs) {
      const auto place = places_.find(theirs);
      const auto partner = std::find_if(reference_.begin(), reference_.end(),
                                        [&](const ListedTensor& one) { return one.name == ours; });
      if (place == places_.end() || partner == reference_.end()) continue;
      if (!AreOfOneSize(candidate_[place->second], *partner)) continue;
      found.emplace(place->second, static_cast<size_t>(partner - reference_.begin()));
    }
    return found;
  }

  // Those of the nearest that cannot be told from the first; empty where others are nearly as near.
  std::vector<NearTensor> NearestOf(size_t i) const {
    const std::vector<NearTensor>& near = near_[i];
    if (near.empty()) return {};
    const double error = near.front().distance.error;
    std::vector<NearTensor> nearest;
    for (const NearTensor& one : near) {
      if (one.distance.error > kPairMargin * error) break;
      const ListedTensor& first = reference_[near.front().reference];
      const double apart = DistanceOf(first, reference_[one.reference]).error;
      if (apart * kPairMargin > error) return {};
      nearest.push_back(one);
    }
    return IsAlone(i, nearest) ? nearest : std::vector<NearTensor>();
  }

  // Are all others kPairMargin times as far, also those that are not among the near ones?
  bool IsAlone(size_t i, const std::vector<NearTensor>& nearest) const {
    const double least = kPairMargin * nearest.front().distance.error;
    if (least <= kMostPairError) return true;
    for (size_t j = 0; j < reference_.size(); ++j) {
      const ListedTensor &theirs = candidate_[i], &ours = reference_[j];
      const bool known = std::any_of(nearest.begin(), nearest.end(),
                                     [&](const NearTensor& one) { return one.reference == j; });
      if (known || !ours.values.decides || !AreOfOneSize(theirs, ours)) continue;
      if (LeastErrorBetween(theirs.values, ours.values) >= least) continue;
      if (DistanceOf(theirs, ours).error < least) return false;
    }
    return true;
  }

  void PairNearest(size_t i) {
    const std::vector<NearTensor> nearest = NearestOf(i);
    const NearTensor* best = nullptr;
    for (const NearTensor& one : nearest) {
      const bool named = ShareAName(reference_[one.reference], candidate_[i]);
      if (named && !IsUsed(one.reference)) best = &one;
    }
    for (const NearTensor& one : nearest) {
      if (best == nullptr && !IsUsed(one.reference)) best = &one;
    }
    // What a node computes is another tensor than what it reads, be the values the same.
    if (best == nullptr && !nearest.empty() && OnlyMovesPaired(i)) best = &nearest.front();
    if (best == nullptr) return;
    const double error = best->distance.error;
    // Another tensor of the candidate may have more of a right to it.
    if (error > kPairMargin * least_[best->reference] + kRoundingSlack) return;
    const bool named = std::any_of(nearest.begin(), nearest.end(), [&](const NearTensor& one) {
      return ShareAName(reference_[one.reference], candidate_[i]);
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
    if (PairMoved(i)) return;
    std::vector<size_t> free;
    for (size_t j = 0; j < reference_.size(); ++j) {
      const bool usable =
          AreOfOneSize(candidate_[i], reference_[j]) && reference_[j].values.decides && !IsUsed(j);
      if (usable) free.push_back(j);
    }
    if (PairByMostValues(i, free) || PairByName(i)) return;
    const auto rivals =
        std::count_if(candidate_.begin(), candidate_.end(), [&](const ListedTensor& other) {
          return AreOfOneSize(other, candidate_[i]) && !partners_[places_.at(other.name)];
        });
    const bool one_left = std::all_of(free.begin(), free.end(), [&](size_t j) {
      return AreCopies(reference_[j], reference_[free.front()]);
    });
    if (!free.empty() && one_left && rivals == 1) Pair(i, free.front(), ForeignMatch::kOnlyOnes);
  }

  // What a node only moves is what it reads, however wrong that is.
  bool PairMoved(size_t i) {
    if (!OnlyMovesPaired(i)) return false;
    const Partner read = *partners_[NamesReadBy(i).front()];
    if (!AreOfOneSize(candidate_[i], reference_[read.reference])) return false;
    const OnnxGraph& graph = sides_.candidate.graph();
    if (graph.nodes[nodes_[i]].op_type != "Transpose") {
      SetPartner(i, {read.reference, ForeignMatch::kValue, read.error, read.axes});
      return true;
    }
    // Only lengths that all differ say for sure where each axis went.
    Dims lengths = candidate_[i].squeezed.dims();
    std::sort(lengths.begin(), lengths.end());
    const bool sure = std::adjacent_find(lengths.begin(), lengths.end()) == lengths.end();
    if (sure && std::isfinite(read.error)) Pair(i, read.reference, ForeignMatch::kValue);
    return true;
  }

  // What else the names could mean: how near the next of the reference's is to the candidate's
  // tensor, or the next of the candidate's to the first of `named`. nullopt: nothing else.
  std::optional<double> NextByName(size_t i, const std::vector<NearTensor>& named) const {
    const ListedTensor &theirs = candidate_[i], &ours = reference_[named.front().reference];
    std::vector<double> errors;
    if (theirs.plain_names.size() > 1) errors.push_back(kUnrelatedError);
    for (const NearTensor& one : named) {
      if (!AreCopies(ours, reference_[one.reference])) errors.push_back(one.distance.error);
    }
    for (size_t k = 0; k < candidate_.size(); ++k) {
      const ListedTensor& other = candidate_[k];
      const bool rival = k != i && !partners_[k] && AreOfOneSize(other, ours) &&
                         ShareAName(other, ours) && !AreCopies(other, theirs);
      if (rival) errors.push_back(DistanceOf(other, ours).error);
    }
    if (errors.empty()) return std::nullopt;
    return *std::min_element(errors.begin(), errors.end());
  }

  // Pairs what is in no doubt: a wrong pair would blame a layer, and tensors without one are
  // searched through. A name decides between copies of one tensor, too. False where the name has no
  // free tensor.
  bool PairByName(size_t i) {
    const std::vector<NearTensor> named = NamesakesOf(candidate_[i], reference_);
    const auto is_free = [&](const NearTensor& one) {
      return std::find(used_.begin(), used_.end(), one.reference) == used_.end();
    };
    if (std::none_of(named.begin(), named.end(), is_free)) return false;
    const ListedTensor& nearest = reference_[named.front().reference];
    const double error = named.front().distance.error;
    const std::optional<double> next = NextByName(i, named);
    const bool clear = !next || (std::isfinite(error) && kNameMargin * error <= *next);
    const auto best = std::find_if(named.begin(), named.end(), [&](const NearTensor& one) {
      return is_free(one) && AreCopies(nearest, reference_[one.reference]);
    });
    if (clear && best != named.end()) {
      SetPartner(i, {best->reference, ForeignMatch::kName, error, best->distance.axes});
    }
    return true;
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
    if (!best || kUnequalMargin * (1 - most.equal) >= 1 - next) return false;
    Pair(i, *best, ForeignMatch::kMostValues, most.axes);
    return true;
  }

  // Where nothing says in which order the axes are, the values do.
  void Pair(size_t i, size_t reference, ForeignMatch how,
            std::optional<std::vector<size_t>> axes = {}) {
    ValueDistance distance = DistanceOf(candidate_[i], reference_[reference]);
    if (!axes) axes = std::move(distance.axes);
    SetPartner(i, {reference, how, distance.error, *std::move(axes)});
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
  std::vector<ListedTensor> candidate_, reference_;
  std::vector<uint32_t> nodes_;  // that make the candidate's tensors
  std::unordered_map<std::string_view, size_t> places_;
  std::vector<std::vector<size_t>> readers_;
  std::vector<std::vector<NearTensor>> near_;  // to each of the candidate's, the nearest first
  std::vector<double> least_;  // how near any of the candidate's is to the reference's
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
