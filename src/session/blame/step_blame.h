// blame over steps: which step is wrong by itself, then which layer within it.
#pragma once

#include <atomic>

#include "blame/search/blame_run.h"
#include "util/log/log.h"

namespace vernier {

/// As ExecuteBlame, where feeds are sequences of steps: the layers are those of one step, which
/// both sides are fed with the state of the first runner. It is the first that is over its error
/// bound then; else the first that is over it when each has its own state; else the one that is
/// closest. The record has it under `at_step`. kInvalidArgument for a side that is saved. Each
/// sequence is run twice, and the feeds of three steps are kept.
BlameOutcome ExecuteStepBlame(const BlamePlan& plan, Logger& logger,
                              const std::atomic<int>& interrupted);

}  // namespace vernier
