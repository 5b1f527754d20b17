#include "decide/kinds/sample_differences.h"

#include <cstdlib>

#include "decide/figures/intervals.h"

namespace vernier {

void SampleDifferences::Add(const DecisionSample& sample) {
  ++samples_;
  if (sample.flip != Flip::kNone) ++flips_;
  if (IsUnlike(sample)) ++unlike_;
  if (!sample.boxes) return;
  boxes_.matched += sample.boxes->matched;
  boxes_.lost += sample.boxes->lost;
  boxes_.invented += sample.boxes->invented;
  boxes_.class_changed += sample.boxes->class_changed;
}

bool SampleDifferences::MostFlip() const {
  return samples_ > 0 && WilsonInterval(flips_, samples_).first > 0.5;
}

bool SampleDifferences::MostDiffer() const {
  return samples_ > 0 && WilsonInterval(unlike_, samples_).first > 0.5;
}

bool SampleDifferences::AreOneSided() const {
  constexpr double kUnlikely = 1e-6, kBiased = 0.05;
  const auto all =
      static_cast<double>(boxes_.matched + boxes_.lost + boxes_.invented + boxes_.class_changed);
  const auto apart = static_cast<double>(std::abs(boxes_.lost - boxes_.invented));
  return apart > kBiased * all && McNemarP(boxes_.lost, boxes_.invented) < kUnlikely;
}

}  // namespace vernier
