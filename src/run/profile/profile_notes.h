// Notes on a profile: conditions that make its times unreliable.
#pragma once

#include <string>
#include <vector>

#include "vernier/profile_record.h"

namespace vernier {

/// One sentence for each kind of doubt, however many measurements it is about: too few inferences,
/// uncertain medians, times that drifted. Of few inferences nothing else is said.
std::vector<std::string> NotesOnTimes(const ProfileRecord& profile);

}  // namespace vernier
