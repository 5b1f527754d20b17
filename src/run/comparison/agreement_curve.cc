#include "run/comparison/agreement_curve.h"

#include <algorithm>
#include <iterator>

namespace vernier {

void AgreementCurve::Add(int64_t step, bool agrees) {
  while (step / width_ >= kMostPoints) Halve();
  const auto place = static_cast<size_t>(step / width_);
  while (bins_.size() <= place) {
    bins_.push_back({.step = static_cast<int64_t>(bins_.size()) * width_});
  }
  ++bins_[place].tokens;
  if (agrees) ++bins_[place].agreeing;
}

void AgreementCurve::Halve() {
  for (size_t i = 1; i < bins_.size(); ++i) {
    if (i % 2 == 0) {
      bins_[i / 2] = bins_[i];
    } else {
      bins_[i / 2].tokens += bins_[i].tokens;
      bins_[i / 2].agreeing += bins_[i].agreeing;
    }
  }
  bins_.resize((bins_.size() + 1) / 2);
  width_ *= 2;
}

std::vector<AgreementPoint> AgreementCurve::Points() const {
  std::vector<AgreementPoint> points;
  std::ranges::copy_if(bins_, std::back_inserter(points),
                       [](const AgreementPoint& point) { return point.tokens > 0; });
  return points;
}

}  // namespace vernier
