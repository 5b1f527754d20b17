// What `check consistency` found, as plain data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vernier {

enum class PropertyVerdict : uint8_t {
  kHolds,
  kBroken,
  kNotApplicable,  ///< could not be tried with this model and these inputs; `detail` says why
};

/// Why an output shows nothing (NotedOutput::why): it agrees with itself whatever a model does.
inline constexpr std::string_view kAllNan = "all elements are NaN";

struct NotedOutput {
  std::string name;
  std::string why;
};

struct PropertyRecord {
  std::string_view name = {};     ///< "permuted-rows"
  std::string_view meaning = {};  ///< completes "expected ..."
  PropertyVerdict verdict = PropertyVerdict::kNotApplicable;
  std::string detail = {};         ///< what was tried, or what happened instead
  std::string smallest_case = {};  ///< of kBroken: the smallest one tried that breaks it
  double times_over = 0;           ///< of kHolds: in multiples of the bound; 0: the same bits
  /// Of kHolds: the factor by which that bound is wider, as rounding is amplified; 1: it is not.
  double condition = 1;
  std::vector<NotedOutput> left_out = {};  ///< outputs that it does not cover
};

/// What the properties of a runner were tried on.
struct ConsistencyCoverage {
  int64_t outputs = 0;
  int64_t elements = 0;                         ///< of these outputs, in one inference
  std::vector<NotedOutput> shows_nothing = {};  ///< of them: all zero, all NaN, no elements, ...
  std::vector<NotedOutput> not_compared = {};   ///< beside them: what is no tensor, say
  std::vector<NotedOutput> no_rows = {};        ///< of them: left out of what is said of rows
};

struct ConsistencyRunner {
  std::string name;
  std::string backend;
  std::string framework_version = {};
  std::string precision = {};
  std::string sizes_found = {};     ///< for free dimensions, which do not run at 1; empty: not so
  std::string failure = {};         ///< not empty: it could not run at all
  bool unavailable = false;         ///< because it is not installed or not usable
  bool nothing_to_compare = false;  ///< because no output of it is a tensor
  ConsistencyCoverage coverage = {};
  std::vector<PropertyRecord> properties = {};
};

struct ConsistencyRecord {
  std::string command;
  std::string version;
  bool complete = true;  ///< false: saved on the way, and the process never came to its end
  std::vector<ConsistencyRunner> runners;

  /// No property is broken.
  bool consistent() const;
  /// Properties that hold or are broken, of all runners.
  int64_t tried() const;
};

/// "holds", "broken", "not applicable".
std::string_view PropertyVerdictName(PropertyVerdict verdict);

/// Indented JSON with a schema_version.
std::string ToJson(const ConsistencyRecord& record);

}  // namespace vernier
