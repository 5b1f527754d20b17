#include "run/steps/step_curve.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace vernier {
namespace {

void RaiseTo(std::optional<double>& worst, const std::optional<double>& value) {
  if (value && (!worst || std::isnan(*value) || *value > *worst)) worst = value;
}

}  // namespace

void StepCurve::Add(int64_t step, std::optional<double> rms, std::optional<double> times_over) {
  while (step / width_ >= kMostPoints) Halve();
  const auto place = static_cast<size_t>(step / width_);
  while (bins_.size() <= place) {
    bins_.push_back({static_cast<int64_t>(bins_.size()) * width_, {}, {}});
  }
  RaiseTo(bins_[place].rms, rms);
  RaiseTo(bins_[place].times_over, times_over);
}

void StepCurve::Halve() {
  for (size_t i = 1; i < bins_.size(); ++i) {
    StepPoint& into = bins_[i / 2];
    if (i % 2 == 0) {
      into = bins_[i];
    } else {
      RaiseTo(into.rms, bins_[i].rms);
      RaiseTo(into.times_over, bins_[i].times_over);
    }
  }
  bins_.resize((bins_.size() + 1) / 2);
  width_ *= 2;
}

std::vector<StepPoint> StepCurve::Points() const {
  std::vector<StepPoint> points;
  std::ranges::copy_if(bins_, std::back_inserter(points), [](const StepPoint& point) {
    return point.rms.has_value() || point.times_over.has_value();
  });
  return points;
}

}  // namespace vernier
