// What a run did, as plain data: enough to print every report again without running anything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vernier/status.h"

namespace vernier {

/// Seconds; nothing when the runner made no inference.
struct LatencyRecord {
  double first = 0;
  double median = 0;
  double p95 = 0;
};

struct RunnerRecord {
  std::string name;
  std::string backend;
  std::string framework_version;
  std::string framework_path;
  std::string model;
  std::string device;
  std::string precision;
  double load_seconds = 0;
  std::optional<LatencyRecord> latency;
  int64_t iterations = 0;
  std::string failure;  ///< empty: it did everything asked of it
  std::vector<std::pair<std::string, std::string>> skipped_outputs;  ///< name, why
};

/// One output over all iterations of a pair.
struct OutputRecord {
  std::string name;        ///< of the first runner
  std::string other_name;  ///< of the second, when it was not the same
  std::string paired_by;   ///< "exact", "folded", "substring", "position"
  int64_t compared = 0;    ///< iterations
  int64_t passed = 0;
  double worst_times_tolerance = 0;  ///< by how many times the worst element exceeds its bar
  double max_absolute_error = 0;
  double max_relative_error = 0;
  double mean_absolute_error = 0;  ///< of the iteration with the largest mean
  double required_absolute = 0;    ///< the tolerance that would have been enough
  double required_relative = 0;
  int64_t elements = 0;     ///< of one iteration
  int64_t mismatches = 0;   ///< elements out of tolerance, in the worst iteration
  int64_t not_finite = 0;   ///< NaN and infinite values on either side, in the worst iteration
  std::string vacuous;      ///< why the agreement shows nothing; empty: it does
};

struct PairRecord {
  std::string first;
  std::string second;
  int64_t compared_iterations = 0;
  int64_t passed_iterations = 0;
  int64_t expected_iterations = 0;  ///< as many as the longer side has
  std::vector<OutputRecord> outputs;          ///< in the first runner's order
  std::vector<std::string> only_in_first;
  std::vector<std::string> only_in_second;
};

struct RunRecord {
  std::string command;
  std::string version;
  std::vector<RunnerRecord> runners;
  std::vector<PairRecord> pairs;
  bool averaged = false;              ///< --check-average: verdicts are on means
  std::string error;                  ///< why the run was given up; empty: it was not
  std::vector<std::string> faults;    ///< what was asked for and not done, one sentence each
  std::vector<std::string> notes;     ///< what was changed on the way: coerced inputs
  std::vector<std::pair<std::string, std::string>> saved;  ///< what, where
  int exit_code = 0;
  double seconds = 0;
};

/// JSON with a schema_version; non-finite numbers are the strings "nan", "inf" and "-inf".
std::string ToJson(const RunRecord& record);

}  // namespace vernier
