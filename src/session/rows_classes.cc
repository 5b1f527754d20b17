#include "session/rows_classes.h"

#include <algorithm>

#include "decide/label_scores.h"
#include "record/gate_text.h"

namespace vernier {

void RowsClasses::Name(const DecisionPlan& decision, std::optional<int64_t> classes,
                       DecisionRecord& record) {
  if (record.class_ious.empty() || names_.empty()) return;
  any_maps_ = true;
  const std::optional<bool> named = names_.AreOf(decision, classes);
  if (named == false) {
    misnamed_.push_back(
        names_.WhyNotOf(options_.class_names, *classes, DecisionName(record.kind, record.output)));
    return;
  }
  any_named_ |= named == true;
  names_.Name(record.class_ious);
}

std::vector<std::string> RowsClasses::Doubts() const {
  return any_named_ ? std::vector<std::string>() : misnamed_;
}

std::string RowsClasses::WhyUseless(const std::string& path) const {
  const bool of_folders = std::ranges::find(options_.labels, kLabelsOfFolders, &LabelsPlan::path) !=
                          options_.labels.end();
  if (names_.empty() || any_maps_ || of_folders) return "";
  return "--class-names has no effect without --labels folder, as '" + path +
         "' has no map of classes: add that, or leave it out";
}

}  // namespace vernier
