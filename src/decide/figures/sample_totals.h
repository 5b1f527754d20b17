// The sums over samples of boxes and of maps of classes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "vernier/decision_record.h"

namespace vernier {

/// Whether a decision is a map of classes in words, "0:812 3:40": how many positions are of which.
inline bool IsMapText(std::string_view decided) {
  return decided.find(':') != std::string_view::npos;
}

/// Whether a list of classes or symbols goes on behind what its text shows, "0 4 +12 more".
inline bool IsCutOffText(std::string_view decided) { return decided.ends_with(" more"); }

/// Counts are exact; overlaps are added in the order of the samples.
class SampleTotals {
 public:
  void Add(const DecisionSample& sample);
  /// Sets `boxes` and `class_ious`; without any they stay as they are, and so they do where a
  /// sample that is not invalid lacks them, as in rows that were edited.
  void Give(DecisionRecord& record) const;

 private:
  std::optional<BoxCounts> boxes_;
  std::map<int64_t, ClassOverlap> classes_;
  bool lacks_boxes_ = false;
  bool lacks_classes_ = false;
};

}  // namespace vernier
