// What decisions look for in outputs of float32: the largest classes, and sides of a border. The
// same results on every machine. Internal to kernels and decide.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vernier {

/// The classes of `count` neighbouring positions.
struct ClassBlock {
  float* best;
  float* second;   ///< -infinity of one class; equal to `best` where that is there twice
  int32_t* place;  ///< of the first `best`
};

/// Fills the block: class c of position i is from[c * stride + i]. At least one class. Returns
/// whether a value is NaN; what the block holds of such positions means nothing.
bool FindClasses(const float* from, size_t classes, size_t stride, size_t count,
                 const ClassBlock& block);

/// The two largest values of a row.
struct LargestTwo {
  float best;
  float second;  ///< equal to `best` where that is there twice; -infinity of one value
  size_t place;  ///< of the first `best`
  bool has_nan;  ///< the other members then mean nothing
};
/// Of one value or more.
LargestTwo FindLargestTwo(const float* row, size_t size);

/// One side of a border.
struct BorderSide {
  float above;       ///< the least value that is not below the limit; infinity: none is
  float below;       ///< the largest below it; -infinity: none is
  size_t not_below;  ///< how many
};
struct BorderSides {
  BorderSide a, b;
  bool differs;  ///< some place is not on the same side in both
  bool has_nan;  ///< in either; NaN is below nothing
};
/// Each side has a limit of its own.
BorderSides FindSides(const float* a, const float* b, size_t count, float limit_a, float limit_b);

}  // namespace vernier
