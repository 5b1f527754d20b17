// Where this program, or the library of it that another program has loaded, is installed.
#pragma once

#include <filesystem>

namespace vernier {

/// The executable `vernier`: this process's own, or, where this code was loaded as part of a shared
/// library, `_program/bin/vernier` beside that library. Workers are started from it, and plug-ins
/// and the Python part are found relative to it. Empty when the system does not say.
std::filesystem::path OwnProgram();

/// The folder above the executable's own: the prefix of the installation.
std::filesystem::path OwnPrefix();

/// Names the executable for a process that is another program: OwnProgram() answers with it from
/// now on. To be called before anything is started; later calls change nothing.
void UseProgram(const std::filesystem::path& program);

}  // namespace vernier
