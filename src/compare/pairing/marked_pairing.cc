#include "compare/pairing/marked_pairing.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "compare/pairing/exporter_names.h"

namespace vernier {
namespace {

struct MarkedTensor {
  size_t index;
  const Tensor* tensor;
  ValueSummary values;
  std::vector<std::string> plain_names;
};

// Two that are near each other, by their places in the lists.
struct NearMarks {
  size_t row, column;
  ValueDistance distance;
  bool named;
};

std::vector<MarkedTensor> ListMarked(const TensorMap& outputs, std::span<const size_t> chosen) {
  std::vector<MarkedTensor> list;
  for (const size_t index : chosen) {
    const NamedTensor& output = outputs[index];
    const ValueSummary values = SummariseValues(output.tensor);
    if (!values.decides) continue;
    list.push_back({index, &output.tensor, values, PlainTensorNames(output.name)});
  }
  return list;
}

bool ShareName(const MarkedTensor& a, const MarkedTensor& b) {
  return std::ranges::any_of(a.plain_names, [&](const std::string& name) {
    return std::ranges::find(b.plain_names, name) != b.plain_names.end();
  });
}

std::vector<NearMarks> FindNear(const std::vector<MarkedTensor>& a,
                                const std::vector<MarkedTensor>& b) {
  std::vector<NearMarks> near;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b.size(); ++j) {
      const Tensor &x = *a[i].tensor, &y = *b[j].tensor;
      if (x.dtype() != y.dtype() || x.element_count() != y.element_count()) continue;
      std::optional<ValueDistance> distance = DistanceWithin(x, a[i].values, y, b[j].values);
      if (!distance || distance->error > kMostPairError) continue;
      near.push_back({i, j, *std::move(distance), ShareName(a[i], b[j])});
    }
  }
  return near;
}

// Is it the pair of both, among those that are in question?
bool IsClear(const NearMarks& pair, const std::vector<NearMarks>& near) {
  return std::ranges::none_of(near, [&](const NearMarks& other) {
    const bool same_row = other.row == pair.row, same_column = other.column == pair.column;
    if (same_row == same_column) return false;  // itself, or of neither
    if (!pair.named) return true;
    return other.named && other.distance.error <= kNameMargin * pair.distance.error;
  });
}

}  // namespace

std::vector<ValuePair> PairMarkedTensors(const TensorMap& a, std::span<const size_t> rows,
                                         const TensorMap& b, std::span<const size_t> columns) {
  const std::vector<MarkedTensor> ours = ListMarked(a, rows), theirs = ListMarked(b, columns);
  const std::vector<NearMarks> near = FindNear(ours, theirs);
  std::vector<ValuePair> pairs;
  for (const NearMarks& pair : near) {
    const double most = pair.named ? kMostPairError : kMostPairError / kPairMargin;
    if (pair.distance.error > most || !IsClear(pair, near)) continue;
    pairs.push_back({ours[pair.row].index, theirs[pair.column].index, pair.distance});
  }
  return pairs;
}

}  // namespace vernier
