// What a row keeps of a sample for the totals of a run: boxes that match, and the classes of a map.
// Only for this folder.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/decision_record.h"

namespace vernier {

/// A column after the name of an output, and the count that it holds.
struct BoxColumn {
  std::string_view end;
  int64_t BoxCounts::*count;
};

inline constexpr std::array<BoxColumn, 4> kBoxColumns = {
    {{"/matched", &BoxCounts::matched},
     {"/lost", &BoxCounts::lost},
     {"/invented", &BoxCounts::invented},
     {"/class_changed", &BoxCounts::class_changed}}};
/// BoxCounts::overlap.
inline constexpr std::string_view kOverlapEnd = "/iou_sum";
/// DecisionSample::classes, as a text.
inline constexpr std::string_view kClassesEnd = "/class_overlaps";

/// Behind the name of a decision: columns with a value for each sample, in rows whose samples have
/// any. All rows with samples have kFlipEnds.
inline constexpr std::string_view kSampleEnds[] = {
    "/detail",   "/negative_boxes", "/scores_above_one", "/all_above",
    "/by_noise", "/over_bound",     "/matched",          "/lost",
    "/invented", "/class_changed",  kOverlapEnd,         kClassesEnd};
inline constexpr std::string_view kFlipEnds[] = {"/flip", "/near_tie", "/similarity"};

/// How many samples a decision of several has, so that none can be lost unnoticed.
inline constexpr std::string_view kSamplesEnd = "/samples";

/// "0:812:810:800 3:40:42:40": of each class the positions of each side, and of both.
std::string OverlapsText(const std::vector<ClassOverlap>& classes);
/// nullopt for what no sample can have: classes are in order, and counts make an IoU.
std::optional<std::vector<ClassOverlap>> OverlapsFrom(std::string_view text);

/// Whether what there is of both can be of a sample with that flip and similarity.
bool TotalsFit(const DecisionSample& sample);

}  // namespace vernier
