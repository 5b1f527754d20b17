// Operators that take parts: the last step of a sequence may differ by more than the whole.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/onnx/onnx_attributes.h"
#include "model/rounding/pair_differences.h"
#include "model/rounding/passed_on.h"

namespace vernier {
namespace {

std::vector<size_t> PlacesFrom(size_t first, size_t end) {
  std::vector<size_t> places(end - first);
  std::iota(places.begin(), places.end(), first);
  return places;
}

PlacesOfAxes AllPlaces(const Dims& dims) {
  PlacesOfAxes places;
  for (const int64_t size : dims) places.push_back(PlacesFrom(0, static_cast<size_t>(size)));
  return places;
}

// From the end where it is negative; nullopt beyond the size.
std::optional<size_t> PlaceWithin(int64_t place, int64_t size) {
  if (place < 0) place += size;
  if (place < 0 || place >= size) return std::nullopt;
  return static_cast<size_t>(place);
}

std::optional<size_t> AxisWithin(const OnnxModel& model, const OnnxNode& node, const Dims& dims) {
  return PlaceWithin(NodeAttributes(model, node).Int("axis", 0), static_cast<int64_t>(dims.size()));
}

// What a Slice takes of an axis of that size; empty where the step is 0.
std::vector<size_t> SlicedPlaces(int64_t start, int64_t end, int64_t step, int64_t size) {
  std::vector<size_t> places;
  if (size == 0) return places;
  const int64_t last = step > 0 ? size : size - 1;
  const auto within = [&](int64_t place, int64_t first) {
    return std::clamp(place < 0 ? place + size : place, first, last);
  };
  const int64_t stop = within(end, step > 0 ? 0 : -1);
  for (int64_t i = within(start, 0); step > 0 ? i < stop : step < 0 && i > stop; i += step) {
    places.push_back(static_cast<size_t>(i));
  }
  return places;
}

}  // namespace

std::optional<std::vector<int64_t>> PassedDifferences::FindNumbers(const OnnxNode& node,
                                                                   size_t input) {
  const auto values = Find(node, input);
  if (!values || values->a != values->b) return {};
  std::vector<int64_t> numbers;
  // An end that is the largest number is rounded up on its way.
  for (const double value : values->a) {
    numbers.push_back(static_cast<int64_t>(std::clamp(value, -0x1p62, 0x1p62)));
  }
  return numbers;
}

std::optional<PlacesOfAxes> PassedDifferences::PlacesOfGather(const OnnxNode& node,
                                                              const Dims& dims) {
  const auto axis = AxisWithin(model_, node, dims);
  const auto numbers = FindNumbers(node, 1);
  if (!axis || !numbers) return {};
  PlacesOfAxes places = AllPlaces(dims);
  places[*axis].clear();
  for (const int64_t number : *numbers) {
    const auto place = PlaceWithin(number, dims[*axis]);
    if (!place) return {};
    places[*axis].push_back(*place);
  }
  return places;
}

std::optional<PlacesOfAxes> PassedDifferences::PlacesOfSplit(const OnnxNode& node, size_t output,
                                                             const Dims& dims) {
  const auto axis = AxisWithin(model_, node, dims);
  if (!axis) return {};
  std::vector<int64_t> sizes = NodeAttributes(model_, node).Ints("split");
  const auto inputs = model_.graph().Inputs(node);
  if (inputs.size() > 1 && !inputs[1].empty()) {
    const auto given = FindNumbers(node, 1);
    if (!given) return {};
    sizes = *given;
  }
  const int64_t size = dims[*axis];
  const auto parts = static_cast<int64_t>(model_.graph().Outputs(node).size());
  if (sizes.empty()) sizes.assign(static_cast<size_t>(parts), (size + parts - 1) / parts);
  if (output >= sizes.size()) return {};
  const auto before = sizes.begin() + static_cast<ptrdiff_t>(output);
  if (std::ranges::any_of(sizes, [&](int64_t part) { return part < 0 || part > size; })) return {};
  const int64_t first = std::accumulate(sizes.begin(), before, int64_t{0});
  const int64_t end = std::min(first + *before, size);
  if (first < 0 || end < first) return {};
  PlacesOfAxes places = AllPlaces(dims);
  places[*axis] = PlacesFrom(static_cast<size_t>(first), static_cast<size_t>(end));
  return places;
}

std::optional<PlacesOfAxes> PassedDifferences::PlacesOfSlice(const OnnxNode& node,
                                                             const Dims& dims) {
  const size_t inputs = model_.graph().Inputs(node).size();
  const auto numbers = [&](size_t input, const char* name) {
    return inputs > 1 ? FindNumbers(node, input) : NodeAttributes(model_, node).Ints(name);
  };
  const auto is_given = [&](size_t input) {
    return input < inputs && !model_.graph().Inputs(node)[input].empty();
  };
  const auto starts = numbers(1, "starts"), ends = numbers(2, "ends");
  if (!starts || !ends || starts->size() != ends->size()) return {};
  std::optional<std::vector<int64_t>> axes(std::in_place, starts->size());
  std::iota(axes->begin(), axes->end(), 0);
  const bool old_axes = inputs <= 1 && !NodeAttributes(model_, node).Ints("axes").empty();
  if (is_given(3) || old_axes) axes = numbers(3, "axes");
  std::optional<std::vector<int64_t>> steps(std::in_place, starts->size(), 1);
  if (is_given(4)) steps = FindNumbers(node, 4);
  if (!axes || !steps || axes->size() != starts->size() || steps->size() != starts->size()) {
    return {};
  }
  PlacesOfAxes places = AllPlaces(dims);
  for (size_t i = 0; i < axes->size(); ++i) {
    const auto axis = PlaceWithin((*axes)[i], static_cast<int64_t>(dims.size()));
    if (!axis) return {};
    places[*axis] = SlicedPlaces((*starts)[i], (*ends)[i], (*steps)[i], dims[*axis]);
  }
  return places;
}

std::optional<PlacesOfAxes> PassedDifferences::PlacesOfPart(const OnnxNode& node, size_t output,
                                                            const Dims& dims) {
  if (node.op_type == "Split") return PlacesOfSplit(node, output, dims);
  return node.op_type == "Slice" ? PlacesOfSlice(node, dims) : PlacesOfGather(node, dims);
}

std::optional<PassedOn> PassedDifferences::OfCopies(const OnnxNode& node, PassedLimits limits) {
  const auto x = Find(node, 0);
  if (!x) return {};
  PairDifferences differences;
  for (size_t i = 0; i < x->a.size(); ++i) differences.Add(x->a[i], x->b[i]);
  return differences.Take(limits.differs);
}

std::optional<PassedOn> PassedDifferences::OfPart(const OnnxNode& node, size_t output,
                                                  PassedLimits limits) {
  const auto x = Find(node, 0);
  const auto places = x ? PlacesOfPart(node, output, x->dims) : std::nullopt;
  if (!places || x->a.empty()) return {};
  std::vector<size_t> elements = {0};
  size_t behind = x->a.size();
  for (size_t axis = 0; axis < x->dims.size(); ++axis) {
    behind /= static_cast<size_t>(x->dims[axis]);
    std::vector<size_t> further;
    for (const size_t element : elements) {
      for (const size_t place : (*places)[axis]) further.push_back(element + place * behind);
    }
    elements = std::move(further);
  }
  PairDifferences differences;
  for (const size_t element : elements) differences.Add(x->a[element], x->b[element]);
  return differences.Take(limits.differs);
}

// Where both sides chose the same place; others are open.
std::optional<PassedOn> PassedDifferences::OfGatheredElements(const OnnxNode& node,
                                                              PassedLimits limits) {
  const auto x = Find(node, 0), at = Find(node, 1);
  const auto axis = x ? AxisWithin(model_, node, x->dims) : std::nullopt;
  if (!axis || !at || at->dims.size() != x->dims.size()) return {};
  PairDifferences differences;
  for (size_t i = 0; i < at->a.size(); ++i) {
    if (at->a[i] != at->b[i]) continue;
    size_t element = 0, stride = 1, rest = i;
    for (size_t k = x->dims.size(); k-- > 0;) {
      const auto size = static_cast<size_t>(at->dims[k]);
      const auto own =
          static_cast<int64_t>(k == *axis ? at->a[i] : static_cast<double>(rest % size));
      const auto place = PlaceWithin(own, x->dims[k]);
      if (!place) return {};
      element += *place * stride;
      stride *= static_cast<size_t>(x->dims[k]);
      rest /= size;
    }
    differences.Add(x->a[element], x->b[element]);
  }
  return differences.Take(limits.differs);
}

}  // namespace vernier
