// What a profile says of the feeds that it measures with.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "vernier/profile_record.h"
#include "vernier/tensor.h"

namespace vernier {

/// "X:[1,3,224,224] ids:[1,16]"
std::string ShapesOf(const TensorMap& feed);

/// The first dimension of all inputs that have one; nullopt where they differ, or none has.
std::optional<int64_t> BatchOf(const TensorMap& feed);

/// Which set of shapes a point was measured with: a runner's points are made set by set.
size_t SetOf(std::span<const ProfilePoint> points, const ProfilePoint& point);

/// From runner by runner to set by set.
void SortBySet(std::vector<ProfilePoint>& points, size_t sets);

}  // namespace vernier
