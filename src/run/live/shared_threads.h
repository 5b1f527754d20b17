// The processors of a machine, divided between the workers of a runner (--workers-per-runner).
#pragma once

#include <cstddef>
#include <string>

#include "vernier/run_plan.h"

namespace vernier {

/// How many threads each worker of a runner computes with, of so many processors: at least one.
size_t ThreadsOfWorker(size_t processors, size_t workers);

/// The plan with that number of threads for the processors that this process may use, where a
/// runner or --env names no other. The same plan where runners have one worker.
RunPlan WithSharedThreads(RunPlan plan);

/// One line of it, for the log.
std::string NoteOfSharedThreads(const RunPlan& plan);

}  // namespace vernier
