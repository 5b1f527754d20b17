#include "run/profile/profile_feed.h"

#include <utility>

namespace vernier {

std::string ShapesOf(const TensorMap& feed) {
  std::string text;
  for (const NamedTensor& input : feed) {
    text += (text.empty() ? "" : " ") + input.name + ":[";
    for (size_t i = 0; i < input.tensor.dims().size(); ++i) {
      text += (i > 0 ? "," : "") + std::to_string(input.tensor.dims()[i]);
    }
    text += "]";
  }
  return text;
}

std::optional<int64_t> BatchOf(const TensorMap& feed) {
  std::optional<int64_t> batch;
  for (const NamedTensor& input : feed) {
    if (input.tensor.dims().empty()) continue;
    if (batch && *batch != input.tensor.dims()[0]) return std::nullopt;
    batch = input.tensor.dims()[0];
  }
  return batch;
}

size_t SetOf(std::span<const ProfilePoint> points, const ProfilePoint& point) {
  size_t set = 0;
  for (const ProfilePoint& other : points) {
    if (&other == &point) break;
    set += other.runner == point.runner;
  }
  return set;
}

void SortBySet(std::vector<ProfilePoint>& points, size_t sets) {
  std::vector<ProfilePoint> sorted;
  for (size_t set = 0; set < sets; ++set) {
    for (const ProfilePoint& point : points) {
      if (SetOf(points, point) == set) sorted.push_back(point);
    }
  }
  points = std::move(sorted);
}

}  // namespace vernier
