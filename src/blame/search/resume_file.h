// What an interrupted search had found.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "blame/probe/search_subject.h"
#include "vernier/blame_record.h"
#include "vernier/status.h"

namespace vernier {

/// Equal for two commands that run the same models with the same releases of the same runners on
/// the same inputs, with the same maps of names. Files, weights beside a model among them, count by
/// name, size and time of change; inputs by their bytes. `runners` are the subject's, described.
std::string ResumeKey(const SearchSubject& subject, std::span<const RunnerRecord> runners);

/// nullopt when there is no such file yet. kMalformed when it is damaged or from another command;
/// `feeds` is how many iterations there are.
Result<std::optional<BlameRecord>> LoadResumeFile(const std::string& path, const std::string& key,
                                                  size_t feeds);

/// kIo.
Status SaveResumeFile(const std::string& path, const BlameRecord& record);

}  // namespace vernier
