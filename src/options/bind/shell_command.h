// A command line as text that a shell reads back.
#pragma once

#include <string>

#include "options/bind/bind_run.h"

namespace vernier {

/// Where the program was started; "." where that is gone.
std::string CurrentFolder();

/// "cd DIR && vernier run ...": what does the same again from anywhere. --gen-script and its value
/// are left out.
std::string ReproCommand(const Invocation& invocation);

/// The same, made from the plan of a run by PlanWords(). A plan that no words make is written to a
/// file of a run first, by the command itself.
std::string ReproCommand(const RunPlan& plan, const Invocation& invocation);

/// A POSIX shell script that does what the command line does.
std::string WriteShellScript(const Invocation& invocation);

}  // namespace vernier
