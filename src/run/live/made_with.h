// What the results of a run are computed with: the same command elsewhere may compute other
// numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/journal/journal.h"
#include "run/live/inference_scheduler.h"
#include "vernier/run_record.h"

namespace vernier {

/// How many threads a runner computes with; 0 where that is on another device.
int64_t ThreadsUsed(const InferenceScheduler& live, size_t index, const std::string& device);

/// "onnxruntime 1.22.1 on CPU, fp32, 2 threads"; 0 threads are left out.
std::string DescribeMachine(const RunnerRecord& runner, int64_t threads);

/// The machines of the runners that are open, the processor where one computes on it, and what
/// Python workers have imported by now, sorted. Waits for inferences that are made at the same
/// time.
std::vector<JournalSource> FindMadeWith(InferenceScheduler& live);

}  // namespace vernier
