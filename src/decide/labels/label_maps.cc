#include "decide/labels/label_maps.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "decide/kinds/class_rows.h"
#include "decide/kinds/row_top.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

// A position that is not judged, where the output has fewer classes: Pascal VOC's border.
constexpr int64_t kIgnoredClass = 255;

/// Where the sample number `row` lies in its output.
struct MapPlace {
  ClassRows rows;     // of the whole output
  int64_t first = 0;  // row of the sample
  int64_t count = 0;  // rows that it has
};

MapPlace PlaceOfMap(const DecisionPlan& decision, const Dims& dims, int64_t row) {
  const size_t axis = *ClassAxis(decision, dims);
  MapPlace place{RowsAlongAxis(dims, axis), 0, 0};
  const int64_t samples = axis == 0 ? 1 : dims[0];
  place.count = place.rows.count() / samples;
  place.first = row * place.count;
  return place;
}

/// Positions by class: of the label, of the side, and of both at once.
struct MapCounts {
  std::vector<int64_t> labelled, decided, both;

  explicit MapCounts(int64_t classes)
      : labelled(static_cast<size_t>(classes)), decided(labelled), both(labelled) {}

  // Over the classes that either has; NaN where no position counts.
  double MeanIou() const {
    double sum = 0;
    double present = 0;
    for (size_t c = 0; c < both.size(); ++c) {
      const int64_t either = labelled[c] + decided[c] - both[c];
      if (either == 0) continue;
      sum += static_cast<double>(both[c]) / static_cast<double>(either);
      ++present;
    }
    return sum / present;
  }
};

// A position with NaN among its classes is of none.
double IouOfSide(const Tensor& output, const MapPlace& place, std::span<const int64_t> label) {
  MapCounts counts(place.rows.classes);
  WithArithmetic(output, output, [&](auto zero) {
    using T = decltype(zero);
    RowReader<T> rows(output, place.rows);
    for (int64_t i = 0; i < place.count; ++i) {
      const int64_t right = label[static_cast<size_t>(i)];
      if (right >= place.rows.classes) continue;  // kIgnoredClass
      const TopTwo<T> top = FindTopTwo(rows.Row(place.first + i));
      ++counts.labelled[static_cast<size_t>(right)];
      if (top.has_nan) continue;
      ++counts.decided[top.place];
      if (top.place == static_cast<size_t>(right)) ++counts.both[top.place];
    }
  });
  return counts.MeanIou();
}

// As many positions in another order would be scored in the wrong places.
Status CheckMapShape(const Label& label, const DecisionPlan& decision, const Dims& output) {
  const size_t axis = *ClassAxis(decision, output);
  Dims positions;
  for (size_t i = axis == 0 ? 0 : 1; i < output.size(); ++i) {
    if (i != axis) positions.push_back(output[i]);
  }
  return CheckLabelShape(label, positions, "the map of a sample");
}

Status CheckMap(const Label& label, const MapPlace& place) {
  if (label.values.size() != static_cast<size_t>(place.count)) {
    return InvalidArgument("has " + Counted(label.values.size(), "value") + " for " +
                           Counted(place.count, "position"));
  }
  bool any = false;
  for (const int64_t value : label.values) {
    const bool is_class = value >= 0 && value < place.rows.classes;
    any |= is_class;
    if (is_class || value == kIgnoredClass) continue;
    return InvalidArgument("has a position of class " + std::to_string(value) +
                           ", and the output " + std::to_string(place.rows.classes) +
                           " classes (255 is left out)");
  }
  return any ? Status() : InvalidArgument("has no position of a class");
}

}  // namespace

Status ScoreMap(const DecisionPlan& decision, const Label& label, const ScoredOutputs& outputs,
                int64_t row, DecisionSample& sample) {
  const MapPlace first = PlaceOfMap(decision, outputs.first->dims(), row);
  const MapPlace second = PlaceOfMap(decision, outputs.second->dims(), row);
  VERNIER_TRY(CheckMap(label, first));
  VERNIER_TRY(CheckMapShape(label, decision, outputs.first->dims()));
  sample.label = "map";
  sample.first_score = IouOfSide(*outputs.first, first, label.values);
  sample.second_score = IouOfSide(*outputs.second, second, label.values);
  return {};
}

}  // namespace vernier
