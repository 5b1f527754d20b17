// Files of labels, as they are stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// kMalformed where an array holds neither numbers nor booleans; `where` names it.
Status CheckLabelType(const std::string& where, const Tensor& array);

/// A .npy file with numbers or booleans. kMalformed, naming the file, for anything else.
Result<Tensor> ReadLabelArray(const std::string& path);

/// The arrays of an .npz file, by iteration: named as in files of feeds (0000000000/label), from 0
/// on without a gap; or, where no name has that form, in the file's order. kMalformed, naming the
/// array, for others.
Result<std::vector<Tensor>> ReadLabelArrays(const std::string& path);

/// The values of all lines, and where those of each line end.
struct LabelLines {
  std::vector<int64_t> values;
  std::vector<size_t> ends;
  std::vector<bool> truths;  ///< of each line: it is true or false
  /// Of text: how many of the last lines are empty. They are labels without a class if there are
  /// samples for them.
  size_t empty_at_end = 0;
};

/// A line of text is a class, or several between blanks; an empty one no class. A line of JSON is a
/// number, true, false, a list of numbers, or an object with one of them as "label"; empty lines at
/// the end do not count. kMalformed, naming the line, for anything else.
Result<LabelLines> ReadLabelLines(const std::string& path, bool json);

}  // namespace vernier
