// `X:[{1,2,4,8},3,224,224]`: many sets of input shapes in a few words.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "vernier/status.h"

namespace vernier {

/// The words of --input-shapes for each set of shapes, braces gone. Braces with the same text
/// change together, in one word or in several; others give every combination, the last of them
/// changing fastest. Without braces there is one set: the words as they are. kInvalidArgument for
/// braces that are not closed, are empty or stand within others, and for more than 10,000 sets.
Result<std::vector<std::vector<std::string>>> ExpandShapeGrid(std::span<const std::string> words);

}  // namespace vernier
