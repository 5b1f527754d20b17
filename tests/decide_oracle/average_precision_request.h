// The driver's answers about average precision:
//
//   {"average_precision": LABELS, "detections": FILE}
//
// LABELS: COCO's JSON. FILE: raw float64, seven a detection: id of the image, x, y, width, height,
// score, id of the category. All images of LABELS are scored.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <ranges>
#include <string>
#include <vector>

#include "decide/figures/average_precision.h"
#include "decide/labels/coco_labels.h"

namespace vernier {

inline std::map<int64_t, std::vector<DetectedBox>> ReadDetections(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::map<int64_t, std::vector<DetectedBox>> detections;
  double row[7];
  while (file.read(reinterpret_cast<char*>(row), sizeof(row))) {
    detections[static_cast<int64_t>(row[0])].push_back(
        {row[1], row[2], row[3], row[4], row[5], static_cast<int64_t>(row[6])});
  }
  return detections;
}

inline std::string FigureDigits(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.17g", std::isnan(value) ? -1 : value);
  return text;
}

inline nlohmann::json FiguresJson(const AveragePrecision& got) {
  nlohmann::json stats = nlohmann::json::array();
  for (const double value :
       {got.ap, got.ap50, got.ap75, got.ap_small, got.ap_medium, got.ap_large, got.ar1, got.ar10,
        got.ar100, got.ar_small, got.ar_medium, got.ar_large}) {
    stats.push_back(FigureDigits(value));
  }
  nlohmann::json categories = nlohmann::json::object();
  for (const CategoryPrecision& own : got.categories) {
    categories[std::to_string(own.category)] = {FigureDigits(own.ap), FigureDigits(own.ap50),
                                                own.objects};
  }
  return {{"stats", stats}, {"categories", categories}};
}

/// The images are added in the reverse order of their ids.
inline nlohmann::json AveragePrecisionAnswer(const nlohmann::json& request) {
  const Result<CocoLabels> labels = ReadCocoLabels(request["average_precision"].get<std::string>());
  if (!labels.ok()) return {{"error", labels.status().message()}};
  const auto detections = ReadDetections(request["detections"].get<std::string>());
  DetectionScorer scorer;
  for (const CocoImage& image : labels->images | std::views::reverse) {
    const auto own = detections.find(image.id);
    const Status added = scorer.AddImage(
        image.id, own == detections.end() ? std::vector<DetectedBox>() : own->second, image.boxes);
    if (!added.ok()) return {{"error", added.message()}};
  }
  nlohmann::json answer = FiguresJson(scorer.Figures());
  answer["left_out"] = labels->left_out;
  answer["has_id_zero"] = labels->has_id_zero;
  return answer;
}

}  // namespace vernier
