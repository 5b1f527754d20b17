// Average precision of detections in many resamples of the images at once. The same bits on every
// machine. Internal to kernels and decide.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace vernier {

/// So many resamples are measured together: what is looked up of a detection serves all of them.
inline constexpr size_t kDrawLanes = 32;

/// Which detections are right or ignored at a threshold of IoU, in rising order: places among the
/// special ones of their category.
struct RankedMarks {
  std::vector<uint32_t> right;
  std::vector<uint32_t> gained, lost;  ///< of `right`, since the threshold before
  std::vector<uint32_t> ignored;
};

/// The detections of a category, surest first. Most are wrong at every threshold, and all that
/// counts of these is their image.
struct RankedDetections {
  std::vector<uint32_t> images;
  std::vector<uint32_t> special;  ///< places of those that are right or ignored at some threshold
  std::vector<RankedMarks> limits;

  /// Fills `gained` and `lost`.
  void NoteChanges();
};

/// Objects of a category in an image.
struct ImageObjects {
  uint32_t image;
  int32_t count;
};

/// How many objects each resample has. `drawn` has a row of kDrawLanes to an image: how often each
/// resample has it.
void CountDrawnObjects(std::span<const ImageObjects> objects, const uint8_t* drawn,
                       std::span<int32_t, kDrawLanes> counts);

/// Which recalls of 1 to 100 % k right detections reach in each resample: floor(k * percent) of
/// them, one less where k is among the late numbers of the resample.
struct DrawnRecalls {
  std::array<double, kDrawLanes> percent;
  std::array<std::vector<double>, kDrawLanes> late;  ///< in falling order

  /// The largest late number that is not above `right`; -1: none.
  double LateUpTo(double right, size_t lane) const {
    for (const double own : late[lane]) {
      if (own <= right) return own;
    }
    return -1;
  }
};

/// Memory that calls of one thread share.
struct DrawnScratch {
  std::vector<int32_t> weights;  // of special detections: how often they are there
  std::vector<int32_t> up_to;    // how many detections there are up to them
  std::vector<double> inverse;   // 1 / how many of these count
};

/// For each resample, the sum over the thresholds and over the recalls of 0 to 100 % of the highest
/// precision from there on; 0 where a recall is not reached. Zero of 100 % belongs to the first
/// right detection.
void SumDrawnPrecisions(const RankedDetections& ranked, const uint8_t* drawn,
                        const DrawnRecalls& recalls, DrawnScratch& scratch,
                        std::span<double, kDrawLanes> sums);

}  // namespace vernier
