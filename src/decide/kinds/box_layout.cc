#include "decide/kinds/box_layout.h"

#include <algorithm>

namespace vernier {
namespace {

constexpr int64_t kBoxWidth = 4;

bool HasScores(const DecisionPlan& decision) {
  return decision.format != BoxFormat::kColumns || std::ranges::count(decision.columns, "scores");
}

// Of the columns that have a name of their own.
int64_t NamedColumns(const DecisionPlan& decision) {
  if (decision.format == BoxFormat::kYoloV5) return kBoxWidth + 1;
  if (decision.format == BoxFormat::kYoloV8) return kBoxWidth;
  int64_t columns = 0;
  for (const std::string& column : decision.columns) {
    if (column == "scores") continue;
    const bool is_box = column == "xyxy" || column == "cxcywh" || column == "xywh";
    columns += is_box ? kBoxWidth : 1;
  }
  return columns;
}

void PlaceColumns(const DecisionPlan& decision, BoxLayout& layout) {
  int64_t at = 0;
  for (const std::string& column : decision.columns) {
    const bool is_box = column == "xyxy" || column == "cxcywh" || column == "xywh";
    if (column == "xyxy") layout.corners = BoxCorners::kCorners;
    if (column == "xywh") layout.corners = BoxCorners::kCorner;
    if (is_box) layout.box = at;
    if (column == "score") layout.score = at;
    if (column == "class") layout.label = at;
    if (column == "scores") layout.scores = at;
    at += is_box ? kBoxWidth : 1;
  }
}

}  // namespace

std::string WhyNotBoxes(const DecisionPlan& decision, const Dims& dims) {
  const std::string shape = "shape " + FormatDims(dims);
  if (dims.size() != 2 && dims.size() != 3) return shape + ", not rows of boxes";
  const int64_t columns = LayoutOfBoxes(decision, dims).columns;
  const int64_t named = NamedColumns(decision);
  const bool fits = HasScores(decision) ? columns > named : columns == named;
  if (fits) return "";
  return shape + ", with " + std::to_string(columns) + " columns instead of " +
         std::to_string(named + (HasScores(decision) ? 1 : 0)) +
         (HasScores(decision) ? " or more" : "");
}

BoxLayout LayoutOfBoxes(const DecisionPlan& decision, const Dims& dims) {
  BoxLayout layout;
  layout.columns_first = decision.format == BoxFormat::kYoloV8;
  if (dims.size() == 3) layout.samples = dims[0];
  const size_t rank = dims.size();
  layout.columns = layout.columns_first ? dims[rank - 2] : dims[rank - 1];
  layout.boxes = layout.columns_first ? dims[rank - 1] : dims[rank - 2];
  if (decision.format == BoxFormat::kColumns) {
    PlaceColumns(decision, layout);
    return layout;
  }
  layout.scores = kBoxWidth;
  if (decision.format == BoxFormat::kYoloV5) {
    layout.score = kBoxWidth;
    layout.scores = kBoxWidth + 1;
  }
  return layout;
}

}  // namespace vernier
