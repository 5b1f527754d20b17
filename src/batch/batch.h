// Runs many models with the same options: a process of this program for each.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "batch/batch_result.h"
#include "report/files/junit.h"
#include "util/log/log.h"
#include "vernier/status.h"

namespace vernier {

/// One run of the batch.
struct BatchRun {
  std::string model;               ///< as it was named
  std::string stem;                ///< of its log's name; no other run has it
  std::vector<std::string> words;  ///< the whole command line, the program's name first
  std::string command;             ///< that does this run again
  std::string record;              ///< where the words have the record saved; empty: nowhere
};

struct BatchPlan {
  std::vector<std::string> models = {};  ///< as they were named: see FindBatchModels()
  std::vector<BatchRun> runs = {};       ///< of those that this process runs
  size_t jobs = 1;                       ///< so many at once, at least 1
  std::string log_folder;                ///< keeps the logs as STEM.log; empty: they are not kept
  std::string report = {};               ///< JUnit's file on all of them; empty: none
  bool keep_records = false;             ///< for that
  /// Is given the log of each run that has ended. Empty: the errors of runs that failed are logged.
  std::function<void(std::string_view log)> show_log = {};
};

struct BatchOutcome {
  std::vector<BatchResult> results;  ///< in the order of the runs
  std::vector<NamedRecord> records;  ///< the same, with keep_records; a run without one failed
};

/// Performs the runs; a crash of one does not end the others. Once `interrupted` is a signal's
/// number, those that run are sent it and no other is begun. kIo, kInternal where a folder cannot
/// be made or a process not started.
Result<BatchOutcome> RunBatch(const BatchPlan& plan, const std::atomic<int>& interrupted,
                              Logger& log);

}  // namespace vernier
