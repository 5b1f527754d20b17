#include "decide/figures/sample_totals.h"

#include <limits>

namespace vernier {

void SampleTotals::Add(const DecisionSample& sample) {
  if (sample.flip != Flip::kInvalid) {
    lacks_boxes_ |= !sample.boxes;
    lacks_classes_ |= IsMapText(sample.first) && sample.classes.empty();
  }
  if (sample.boxes) {
    BoxCounts& sum = boxes_ ? *boxes_ : boxes_.emplace();
    sum.matched += sample.boxes->matched;
    sum.lost += sample.boxes->lost;
    sum.invented += sample.boxes->invented;
    sum.class_changed += sample.boxes->class_changed;
    sum.overlap += sample.boxes->overlap;
  }
  for (const ClassOverlap& one : sample.classes) {
    ClassOverlap& sum = classes_[one.category];
    sum.first += one.first;
    sum.second += one.second;
    sum.both += one.both;
  }
}

void SampleTotals::Give(DecisionRecord& record) const {
  if (boxes_ && !lacks_boxes_) {
    double mean = std::numeric_limits<double>::quiet_NaN();
    if (boxes_->matched > 0) mean = boxes_->overlap / static_cast<double>(boxes_->matched);
    record.boxes = {boxes_->matched, boxes_->lost, boxes_->invented, boxes_->class_changed, mean};
  }
  if (lacks_classes_) return;
  for (const auto& [category, of] : classes_) {
    const int64_t either = of.first + of.second - of.both;
    record.class_ious.push_back({category, "", of.first, of.second, of.both,
                                 static_cast<double>(of.both) / static_cast<double>(either)});
  }
}

}  // namespace vernier
