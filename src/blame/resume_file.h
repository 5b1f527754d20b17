// What an interrupted search had found.
#pragma once

#include <optional>
#include <string>

#include "blame/blame_plan.h"
#include "blame/sides.h"
#include "record/blame_record.h"
#include "vernier/status.h"

namespace vernier {

/// Equal for two commands that run the same models with the same runners on the same inputs. Files
/// count by name, size and time of change.
std::string ResumeKey(const BlamePlan& plan, const Sides& sides);

/// nullopt when there is no such file yet. kMalformed when it is damaged or from another command;
/// `feeds` is how many iterations there are.
Result<std::optional<BlameRecord>> LoadResumeFile(const std::string& path, const std::string& key,
                                                  size_t feeds);

/// kIo.
Status SaveResumeFile(const std::string& path, const BlameRecord& record);

}  // namespace vernier
