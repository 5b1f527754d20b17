// `X:[{1,2,4,8},3,224,224]` and `X:[1,3] X:[8,3]`: many sets of input shapes in a few words.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/status.h"

namespace vernier {

/// The words of --input-shapes for each set of shapes: one word for each name, braces gone. Of a
/// name with several words the first set has the first, and so on; names with fewer begin again.
/// Braces make several sets of one: those with the same text change together, in one word or in
/// several; others give every combination, the last of them changing fastest. kInvalidArgument for
/// braces that are not closed, are empty or stand within others, for words that ParseShapeSpecs
/// refuses, and for more than 10,000 sets. `flag` is whose words these are, for messages.
Result<std::vector<std::vector<std::string>>> ExpandShapeGrid(
    std::span<const std::string> words, std::string_view flag = "--input-shapes");

/// The same sets as words for ParseShapeSpecs: each name as often as there are sets. Without braces
/// the words as they are.
Result<std::vector<std::string>> ShapesInTurn(std::span<const std::string> words,
                                              std::string_view flag = "--input-shapes");

/// How often the name that has most shapes stands in words without braces; 1 for none.
Result<int64_t> CountShapeSets(std::span<const std::string> words);

/// kInvalidArgument, naming an input that has several shapes, for words of which only one set is
/// used: `who` says by what, as in "blame".
Status RefuseSeveralShapes(std::string_view flag, std::span<const std::string> words,
                           std::string_view who);

}  // namespace vernier
