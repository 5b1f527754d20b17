#include "session/rows/rows_labels.h"

#include <algorithm>
#include <vector>

#include "decide/labels/label_scores.h"
#include "record/rows/decision_rows.h"
#include "vernier/row_record.h"

namespace vernier {
namespace {

// Labels that need what rows do not hold.
Status CheckLabelsOfRows(const DecisionOptions& options) {
  const auto boxes = std::ranges::find_if(options.labels, &LabelsPlan::of_boxes);
  if (boxes != options.labels.end()) {
    return InvalidArgument("--labels " + boxes->path +
                           ": rows hold no boxes, which `run` and `compare` score");
  }
  const auto fed = std::ranges::find_if(
      options.labels, [](const LabelsPlan& one) { return FedLabelKey(one).has_value(); });
  if (fed == options.labels.end()) return {};
  return InvalidArgument("--labels " + fed->path +
                         ": rows hold no inputs; the labels of their run are in them, and others "
                         "need a file");
}

// Folders are classes of the images that the rows name.
Result<RunLabels> OpenOf(const std::string& path, const DecisionOptions& options) {
  VERNIER_TRY(CheckLabelsOfRows(options));
  std::vector<std::string> images;
  const bool of_folders = std::ranges::find(options.labels, kLabelsOfFolders, &LabelsPlan::path) !=
                          options.labels.end();
  if (!of_folders) return RunLabels::Open(options, images);
  VERNIER_TRY(ForEachDecisionRow(path, [&](const IterationRow& row) -> Status {
                if (row.file) images.push_back(row.file->name);
                return {};
              }).status());
  if (!images.empty()) return RunLabels::Open(options, images);
  return Malformed("--labels folder: '" + path +
                   "' does not say which images the run was fed: label the samples with a file");
}

}  // namespace

Result<RunLabels> OpenLabelsOfRows(const std::string& path, const DecisionOptions& options,
                                   Logger& log) {
  Result<RunLabels> labels = OpenOf(path, options);
  if (!labels.ok()) return labels;
  for (const std::string& note : labels->DescribeClasses()) log.Info(note);
  return labels;
}

std::string WhyNoDrop(const std::string& path, const DecisionOptions& options, bool takes_labels) {
  if (!takes_labels) return "none of the decisions that are judged takes labels";
  return "'" + path + "' has no labels" +
         (options.labels.empty() ? ": add --labels" : " but those, which fit none");
}

void AddUnusedDrops(const std::string& path, const DecisionOptions& options,
                    const std::set<std::string>& used, std::vector<std::string>& sentences) {
  for (const auto& [metric, limit] : options.max_drop.entries) {
    if (used.contains(metric)) continue;
    sentences.push_back("--max-drop " + metric + ": '" + path +
                        "' has no decision with labels of that name");
  }
}

}  // namespace vernier
