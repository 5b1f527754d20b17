// Which weights of a model are 2:4 sparse, told in the peer's words.
#pragma once

#include <string_view>
#include <unordered_set>

#include "surgeon/editable_model.h"
#include "util/log.h"
#include "vernier/status.h"

namespace vernier {

/// Tells of each weight that could be sparse whether it is. The names of those that are, as views
/// into model.now(). Errors of EditableModel::ValuesOf.
Result<std::unordered_set<std::string_view>> FindSparseWeights(const EditableModel& model,
                                                               Logger& log);

}  // namespace vernier
