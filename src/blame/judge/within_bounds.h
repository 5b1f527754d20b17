// The report for a run that failed its tolerance although no layer exceeds its error bound.
#pragma once

#include <span>
#include <string>

#include "vernier/blame_record.h"

namespace vernier {

/// The layer with the largest error that it makes itself, alone or as it is fused, relative to its
/// error bound: "0.62 times its error bound, of 'c1' (Conv)". Empty: none is known to make one.
std::string LargestOwnError(std::span<const BlameLayerRecord> layers);

/// How a run failed: "output 'y' is 3 times over the tolerance of the run".
struct FailedRun {
  std::string what;
  std::string non_finite = {};  ///< BlamePlan::failed_by
  bool by_bounds = false;       ///< its tolerance is --tolerance auto already
};

/// One sentence: no layer is to blame, although the run `failed`, which layer has the largest
/// error, what is known of `bodies` ("; in the body of ...", or empty), and what to do. `unseen`:
/// why an output was not examined, or empty.
std::string DescribeWithinBounds(const FailedRun& failed, const std::string& bodies,
                                 const std::string& unseen, const BlameRecord& record);

}  // namespace vernier
