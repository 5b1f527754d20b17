#include "compare/pairing/output_matcher.h"

#include <algorithm>
#include <map>
#include <utility>

#include "compare/pairing/marked_pairing.h"
#include "core/tensor_slice.h"

namespace vernier {
namespace {

constexpr int kMostLooks = 4;

std::vector<size_t> IndicesOf(const TensorMap& outputs, const std::vector<std::string>& names) {
  std::vector<size_t> indices;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const bool chosen = std::find(names.begin(), names.end(), outputs[i].name) != names.end();
    if (chosen) indices.push_back(i);
  }
  return indices;
}

Status FetchAll(const TensorMap& outputs, std::span<const size_t> chosen, DeviceMeasure* device) {
  for (const size_t i : chosen) {
    if (device == nullptr || !device->Holds(outputs[i].tensor)) continue;
    VERNIER_TRY(device->Fetch(outputs[i].tensor));
  }
  return {};
}

// The same without the pairs.
ValuePairing WithoutPairs(const ValuePairing& all) {
  const auto paired = [&](size_t index, size_t ValuePair::*side) {
    return std::any_of(all.pairs.begin(), all.pairs.end(),
                       [&](const ValuePair& pair) { return pair.*side == index; });
  };
  ValuePairing rest;
  for (const size_t j : all.columns) {
    if (!paired(j, &ValuePair::b)) rest.columns.push_back(j);
  }
  for (size_t i = 0; i < all.rows.size(); ++i) {
    if (paired(all.rows[i], &ValuePair::a)) continue;
    rest.rows.push_back(all.rows[i]);
    auto& errors = rest.errors.emplace_back();
    for (size_t j = 0; j < all.columns.size(); ++j) {
      if (!paired(all.columns[j], &ValuePair::b)) errors.push_back(all.errors[i][j]);
    }
  }
  return rest;
}

// Could another feed show that two of these are a pair?
bool MayYetPair(const ValuePairing& rest, const TensorMap& a, const TensorMap& b) {
  return std::any_of(rest.rows.begin(), rest.rows.end(), [&](size_t i) {
    return std::any_of(rest.columns.begin(), rest.columns.end(), [&](size_t j) {
      const Tensor &x = a[i].tensor, &y = b[j].tensor;
      return x.dtype() == y.dtype() && x.element_count() == y.element_count() &&
             x.dtype() != DType::kString;
    });
  });
}

}  // namespace

void OutputMatcher::Decide(std::span<const ValuePair> pairs, const TensorMap& a,
                           const TensorMap& b) {
  for (const ValuePair& pair : pairs) {
    std::string name = b[pair.b].name;
    if (!pair.distance.axes.empty()) {
      axes_[name] = pair.distance.axes;
      name += "@" + FormatAxes(pair.distance.axes);
    }
    errors_[a[pair.a].name] = pair.distance.error;
    known_.push_back({a[pair.a].name, std::move(name), PairedBy::kValue});
  }
}

// Of pairs that were found by likeness alone, and what is left: where their values say that others
// belong together, these do. Where both have a partner by name, they are swapped, which is a fault.
Status OutputMatcher::LetValuesWin(const Pairing& names, const TensorMap& a, const TensorMap& b,
                                   DeviceMeasure* device) {
  std::vector<size_t> rows = IndicesOf(a, names.left_only);
  std::vector<size_t> columns = IndicesOf(b, names.right_only);
  std::map<size_t, OutputPair> of_a, of_b;
  for (const OutputPair& pair : names.pairs) {
    const bool alike = pair.how == PairedBy::kSubstring || pair.how == PairedBy::kPosition ||
                       pair.how == PairedBy::kShape;
    if (!alike) continue;
    of_a.emplace(pair.a, pair);
    of_b.emplace(pair.b, pair);
    rows.push_back(pair.a);
    columns.push_back(pair.b);
  }
  if (of_a.empty() || (rows.size() == 1 && columns.size() == 1)) return {};
  VERNIER_TRY(FetchAll(a, rows, device));
  VERNIER_TRY(FetchAll(b, columns, device));
  std::vector<ValuePair> others;
  for (const ValuePair& pair : PairByValue(a, rows, b, columns).pairs) {
    const auto first = of_a.find(pair.a), second = of_b.find(pair.b);
    const bool has_first = first != of_a.end(), has_second = second != of_b.end();
    const bool contradicts =
        (has_first && first->second.b != pair.b) || (has_second && second->second.a != pair.a);
    const bool swapped = has_first && has_second && first->second.how == PairedBy::kSubstring &&
                         second->second.how == PairedBy::kSubstring;
    if (contradicts && !swapped) others.push_back(pair);
  }
  Decide(others, a, b);
  return {};
}

Status OutputMatcher::Look(const TensorMap& a, const TensorMap& b, DeviceMeasure* device) {
  if (settled_) return {};
  VERNIER_ASSIGN_OR_RETURN(TensorMap aligned, Align(b, device));
  Pairing names = PairOutputs(a, aligned, rule_, known_);
  if (looks_++ == 0 && rule_ == PairingRule::kOneToOne) {
    const size_t known = known_.size();
    VERNIER_TRY(LetValuesWin(names, a, aligned, device));
    if (known_.size() > known) {
      VERNIER_ASSIGN_OR_RETURN(aligned, Align(b, device));
      names = PairOutputs(a, aligned, rule_, known_);
    }
    known_.clear();
    for (const OutputPair& pair : names.pairs) {
      known_.push_back({a[pair.a].name, aligned[pair.b].name, pair.how});
    }
  }
  const bool marked = rule_ == PairingRule::kOneToOneFormats;
  const bool asks = marked || rule_ == PairingRule::kOneToOne;
  settled_ = !asks || names.left_only.empty() || names.right_only.empty();
  if (settled_) return {};
  const std::vector<size_t> rows = IndicesOf(a, names.left_only);
  const std::vector<size_t> columns = IndicesOf(aligned, names.right_only);
  VERNIER_TRY(FetchAll(a, rows, device));
  VERNIER_TRY(FetchAll(aligned, columns, device));
  // Marked tensors without a partner are no fault: the first feed decides.
  settled_ = marked;
  if (marked) Decide(PairMarkedTensors(a, rows, aligned, columns), a, aligned);
  if (marked) return {};
  const ValuePairing found = PairByValue(a, rows, aligned, columns);
  Decide(found.pairs, a, aligned);
  const ValuePairing rest = WithoutPairs(found);
  const bool may_pair = MayYetPair(rest, a, aligned);
  table_ = may_pair ? rest.Table(a, aligned) : "";
  settled_ = looks_ == kMostLooks || !may_pair;
  return {};
}

std::vector<std::string> OutputMatcher::ByShape() const {
  std::vector<std::string> pairs;
  for (const KnownPair& pair : known_) {
    const bool by_shape = pair.how == PairedBy::kShape || pair.how == PairedBy::kPosition;
    if (by_shape) pairs.push_back(pair.a + " = " + pair.b);
  }
  return pairs;
}

Result<TensorMap> OutputMatcher::Align(const TensorMap& b, DeviceMeasure* device) const {
  TensorMap aligned = b;
  if (axes_.empty()) return aligned;
  for (NamedTensor& output : aligned) {
    const auto axes = axes_.find(output.name);
    if (axes == axes_.end() || axes->second.size() != output.tensor.dims().size()) continue;
    if (device != nullptr && device->Holds(output.tensor)) {
      VERNIER_TRY(device->Fetch(output.tensor));
    }
    VERNIER_ASSIGN_OR_RETURN(output.tensor, TakeForm(output.tensor, {{}, axes->second}));
    output.name += "@" + FormatAxes(axes->second);
  }
  return aligned;
}

Pairing OutputMatcher::Pair(const TensorMap& a, const TensorMap& aligned_b) const {
  // What was decided stays, and what came later is known by its name alone.
  const bool decides = rule_ == PairingRule::kOneToOne || rule_ == PairingRule::kOneToOneFormats;
  const bool decided = looks_ > 0 && decides;
  return PairOutputs(a, aligned_b, decided ? PairingRule::kOneToOneMarked : rule_, known_);
}

}  // namespace vernier
