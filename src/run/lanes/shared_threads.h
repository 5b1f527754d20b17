// The processors of a machine, divided between the workers of a runner (--workers-per-runner).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "backend/wire/messages.h"
#include "vernier/run_plan.h"

namespace vernier {

/// How many threads each worker of a runner computes with, of so many processors: at least one.
size_t ThreadsOfWorker(size_t processors, size_t workers);

/// The same for the processors that this process may use. Nothing where runners have one worker.
std::optional<size_t> SharedThreads(const RunPlan& plan);

/// The plan with that number in the environment of workers, where --env names no other. Sessions
/// are set by the option of their backend (OptionMeaning::kThreads).
RunPlan WithSharedThreads(RunPlan plan);

/// With how many threads a runner of such a plan computes on processors, as far as its options, the
/// environment and the processors that this process may use say.
int64_t ThreadsOfRunner(const RunPlan& plan, const RunnerPlan& runner, const BackendInfo& backend);

/// One line of it, for the log.
std::string NoteOfSharedThreads(const RunPlan& plan);

}  // namespace vernier
