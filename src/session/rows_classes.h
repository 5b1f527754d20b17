// What the classes of saved rows are called (`check accuracy --class-names`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/labels/sample_labels.h"
#include "vernier/decision_plan.h"
#include "vernier/decision_record.h"

namespace vernier {

class RowsClasses {
 public:
  /// Both must outlive it.
  RowsClasses(const DecisionOptions& options, const RunLabels& labels)
      : options_(options), names_(labels.class_names()) {}

  /// Names the classes of a map whose output has so many, as far as the rows say.
  void Name(const DecisionPlan& decision, std::optional<int64_t> classes, DecisionRecord& record);

  /// That names are for other classes, in sentences: none where they are those of one output.
  std::vector<std::string> Doubts() const;

  /// Why --class-names change nothing of the rows of `path`; empty: they do, or are not given.
  std::string WhyUseless(const std::string& path) const;

 private:
  const DecisionOptions& options_;
  const ClassNames& names_;
  std::vector<std::string> misnamed_;
  bool any_maps_ = false, any_named_ = false;
};

}  // namespace vernier
