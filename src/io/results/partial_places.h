// The places beside NAME where outputs wait that are not in it yet, and how they get there.
#pragma once

#include <string>
#include <vector>

#include "vernier/status.h"

namespace vernier {

/// Behind the name of a folder of iterations that is to take the place of an older one.
inline constexpr const char* kResumedSuffix = ".resumed";

/// The folders of parts that belong to `name`, a path without slashes at its end: NAME.partial and
/// NAME.resumed.partial, the latter's folder being NAME.resumed, and what is numbered:
/// NAME.partial.2, NAME.resumed.2.partial. Sorted. Whatever else begins like that is not ours.
std::vector<std::string> PartsBeside(const std::string& name);

/// Whether anything stands there, be it a link to nowhere.
bool IsThere(const std::string& path);

/// The first of `path`, PATH.1, PATH.2, ... that is not there, and has no parts beside it.
std::string FreePlace(const std::string& path);

/// Puts the folder of iterations `from` where `to` is, in one step where the system can; the old
/// iterations at `to` are removed, and other files that stood there are in the new folder. On error
/// (kIo) both are as before.
Status ReplaceIterations(const std::string& from, const std::string& to);

/// Puts the folder `from` where `to` is, in one step where the system can. An older folder at `to`
/// is removed with all that is in it. On error (kIo) both are as before.
Status ReplaceFolder(const std::string& from, const std::string& to);

}  // namespace vernier
