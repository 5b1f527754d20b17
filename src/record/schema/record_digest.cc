#include "record/schema/record_digest.h"

#include "record/schema/coverage.h"

namespace vernier {
namespace {

void AddToDigest(const OutputRecord& output, bool ended_early, RecordDigest& digest) {
  ++digest.outputs;
  if (ended_early && output.agrees()) ++digest.partial;
  // What differs shows that it does.
  if (!output.agrees()) {
    ++digest.failed;
  } else if (!output.vacuous.empty()) {
    ++digest.vacuous;
  }
  const bool known = !output.dtype.empty() && !output.other_dtype.empty();
  if (known && IsRetyped(output) && digest.retyped++ == 0) {
    digest.retyped_output =
        output.name + " (" + output.dtype + " against " + output.other_dtype + ")";
  }
  digest.elements += output.elements;
  if (output.worst_times_tolerance > digest.worst_times_tolerance) {
    digest.worst_times_tolerance = output.worst_times_tolerance;
    digest.worst_output = output.name;
  }
}

std::string ErrorOf(const RunRecord& record) {
  if (!record.error.empty()) return record.error;
  for (const RunnerRecord& runner : record.runners) {
    if (!runner.failure.empty()) return runner.failure;
  }
  if (!record.rejections.empty()) return record.rejections.front();
  return record.faults.empty() ? "" : record.faults.front();
}

}  // namespace

RecordDigest DigestOf(const RunRecord& record) {
  RecordDigest digest;
  for (const auto& [what, where] : record.saved) digest.saved.push_back(where);
  for (const PairRecord& pair : record.pairs) {
    ++digest.pairs;
    digest.one_sided +=
        static_cast<int64_t>(pair.only_in_first.size() + pair.only_in_second.size());
    digest.left_out += static_cast<int64_t>(pair.without_verdict.size() + pair.dropped.size() +
                                            pair.left_out.size() + pair.not_logits.size());
    // How many iterations there were to come is not known of every run that was given up.
    const bool fewer = pair.compared_iterations < pair.expected_iterations;
    const bool ended_early = pair.incomplete && (fewer || !record.error.empty());
    for (const OutputRecord& output : pair.outputs) AddToDigest(output, ended_early, digest);
  }
  digest.error = ErrorOf(record);
  return digest;
}

}  // namespace vernier
