#include "blame/sides/listed_tensor.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "compare/pairing/exporter_names.h"
#include "core/shape_match.h"

namespace vernier {

ListedTensor ListTensor(std::string_view name, const Tensor& tensor) {
  ListedTensor listed{name, &tensor, tensor, {}, PlainTensorNames(name)};
  Result<Tensor> squeezed = tensor.Reshaped(WithoutUnitAxes(tensor.dims()));
  if (squeezed.ok()) listed.squeezed = *std::move(squeezed);
  if (Kind(tensor.dtype()) == DTypeKind::kFloat) listed.values = SummariseValues(tensor);
  return listed;
}

bool AreOfOneSize(const ListedTensor& a, const ListedTensor& b) {
  return a.tensor->dtype() == b.tensor->dtype() &&
         a.tensor->element_count() == b.tensor->element_count();
}

bool ShareAName(const ListedTensor& a, const ListedTensor& b) {
  return std::any_of(a.plain_names.begin(), a.plain_names.end(), [&](const std::string& name) {
    return std::find(b.plain_names.begin(), b.plain_names.end(), name) != b.plain_names.end();
  });
}

ValueDistance DistanceOf(const ListedTensor& a, const ListedTensor& b) {
  const ValueDistance infinite = {std::numeric_limits<double>::infinity(), {}};
  return DistanceOfValues(a.squeezed, b.squeezed).value_or(infinite);
}

bool AreCopies(const ListedTensor& a, const ListedTensor& b) {
  if (!AreOfOneSize(a, b) || LeastErrorBetween(a.values, b.values) > kRoundingSlack) return false;
  return DistanceOf(a, b).error == 0;
}

void SortByError(std::vector<NearTensor>& near) {
  std::stable_sort(near.begin(), near.end(), [](const NearTensor& a, const NearTensor& b) {
    return a.distance.error < b.distance.error;
  });
}

std::vector<NearTensor> NamesakesOf(const ListedTensor& theirs,
                                    std::span<const ListedTensor> reference) {
  std::vector<NearTensor> named;
  for (size_t j = 0; j < reference.size(); ++j) {
    const ListedTensor& ours = reference[j];
    // Values that are all the same do not say in which order the axes are.
    const bool clear = theirs.values.decides || theirs.squeezed.dims() == ours.squeezed.dims();
    const bool fits = AreOfOneSize(theirs, ours) && ours.values.decides && clear;
    if (fits && ShareAName(theirs, ours)) named.push_back({j, DistanceOf(theirs, ours)});
  }
  SortByError(named);
  return named;
}

}  // namespace vernier
