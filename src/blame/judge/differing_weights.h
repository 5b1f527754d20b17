// Weights of the candidate that are not those of the reference.
#pragma once

#include <map>
#include <string>

#include "blame/sides/search_sides.h"
#include "vernier/blame_record.h"

namespace vernier {

/// By the names of layers: which of their weights differ between the files by more than a type
/// resolves, "its weight 'R2' is not that of the reference". Of layers whose own error is over its
/// bound, and of those with the largest. Where a file or a node of this name is missing, or a
/// weight cannot be read, nothing is known.
std::map<std::string, std::string> FindDifferingWeights(const SearchSides& sides,
                                                        const SearchModels& models,
                                                        const BlameRecord& record);

}  // namespace vernier
