#include "batch/batch_result.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <utility>

#include "report/text/text_table.h"
#include "util/text/first_line.h"
#include "util/text/number_text.h"
#include "util/values/joined.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

constexpr int kFirstSignal = 128;

struct CodeMeaning {
  int code;
  std::string_view word;
  bool RunFaults::*fault;
};
// docs/exit-codes.md
constexpr CodeMeaning kMeanings[] = {
    {1, "mismatch", &RunFaults::mismatch},       {2, "usage error", &RunFaults::usage},
    {3, "unreadable", &RunFaults::malformed},    {4, "incomplete", &RunFaults::incomplete},
    {5, "unavailable", &RunFaults::unavailable}, {6, "backend failed", &RunFaults::backend},
    {7, "not saved", &RunFaults::unsaved},
};

const CodeMeaning* MeaningOf(int code) {
  const auto* found = std::find_if(std::begin(kMeanings), std::end(kMeanings),
                                   [&](const CodeMeaning& m) { return m.code == code; });
  return found == std::end(kMeanings) ? nullptr : found;
}

std::string Detail(const BatchResult& result) {
  const RecordDigest& digest = result.digest;
  if (BatchVerdict(result) == "ran" && !digest.saved.empty())
    return "saved " + Joined(digest.saved);
  const std::string retyped = digest.retyped == 0 ? "" : "types differ: " + digest.retyped_output;
  const bool has_worst = digest.worst_times_tolerance > 0 && digest.error.empty();
  if (has_worst) {
    return digest.worst_output + ": " + FormatG(digest.worst_times_tolerance, 3) +
           " times the tolerance" + (retyped.empty() ? "" : "; " + retyped);
  }
  if (result.messages.empty() && digest.error.empty()) return retyped;
  return FirstLine(result.messages.empty() ? digest.error : result.messages.front());
}

// What all of it rests on.
std::string Coverage(std::span<const BatchResult> results) {
  RecordDigest all;
  int64_t without = 0;  // models of which nothing was compared
  size_t ran = 0, saved = 0;
  for (const BatchResult& result : results) {
    ran += BatchVerdict(result) == "ran" ? 1 : 0;
    saved += result.digest.saved.size();
    all.outputs += result.digest.outputs;
    all.elements += result.digest.elements;
    all.vacuous += result.digest.vacuous;
    all.retyped += result.digest.retyped;
    all.one_sided += result.digest.one_sided;
    all.left_out += result.digest.left_out;
    without += result.digest.outputs == 0 ? 1 : 0;
  }
  if (ran > 0 && all.outputs == 0) {
    // Records count tensors only: engines, models and reports may have been saved all the same.
    return "there was nothing to compare: no model had two sides; " +
           (saved == 0 ? "no inputs or outputs were saved" : "saved " + Counted(saved, "file")) +
           "\n";
  }
  std::string text =
      "compared " + Counted(all.outputs, "output") + ", " + Counted(all.elements, "element");
  if (all.retyped > 0) text += "; types differ: " + Counted(all.retyped, "output");
  if (all.one_sided > 0) text += "; on one side only: " + Counted(all.one_sided, "output");
  if (all.left_out > 0) text += "; left out by scripts: " + Counted(all.left_out, "output");
  if (all.vacuous > 0) text += "; shows nothing: " + Counted(all.vacuous, "output");
  if (without > 0) text += "; nothing was compared of " + Counted(without, "model");
  return text + "\n";
}

std::string Seconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", seconds);
  return text;
}

}  // namespace

std::string BatchVerdict(const BatchResult& result) {
  if (!result.started) return "not run";
  if (result.exit_code == 0 && result.digest.outputs > 0) return "passed";
  if (result.exit_code == 0) return result.digest.pairs == 0 ? "ran" : "nothing compared";
  if (const CodeMeaning* meaning = MeaningOf(result.exit_code)) return std::string(meaning->word);
  if (result.exit_code > kFirstSignal) {
    const char* name = ::sigabbrev_np(result.exit_code - kFirstSignal);
    return "ended by SIG" + std::string(name != nullptr ? name : "?");
  }
  return "internal error";
}

RunFaults FaultsOf(std::span<const BatchResult> results) {
  RunFaults faults;
  for (const BatchResult& result : results) {
    if (!result.started) {
      faults.incomplete = true;
    } else if (const CodeMeaning* meaning = MeaningOf(result.exit_code)) {
      faults.*(meaning->fault) = true;
    } else if (result.exit_code != 0) {
      faults.internal = true;
    }
  }
  return faults;
}

std::string FormatBatch(std::span<const BatchResult> results) {
  std::vector<TextRow> rows = {{"model", "verdict", "outputs", "seconds", "finding"}};
  std::map<std::string, int> sums;
  for (const BatchResult& result : results) {
    const RecordDigest& digest = result.digest;
    const std::string outputs =
        digest.outputs == 0 ? "-"
                            : std::to_string(digest.outputs - digest.failed - digest.partial) +
                                  " of " + std::to_string(digest.outputs);
    rows.push_back({result.model, BatchVerdict(result), outputs,
                    result.started ? Seconds(result.seconds) : "-", Detail(result)});
    ++sums[BatchVerdict(result)];
  }
  // Runs of one side, as those that make golden outputs, have nothing to pass.
  const std::string well = sums["passed"] == 0 && sums["ran"] > 0 ? "ran" : "passed";
  std::string text = FormatTable(std::move(rows), {.indent = 0});
  text += std::to_string(sums[well]) + " of " + std::to_string(results.size()) + " " + well;
  for (const auto& [verdict, count] : sums) {
    if (verdict == well || count == 0) continue;
    const bool several = count > 1 && (verdict == "usage error" || verdict == "internal error");
    text += ", " + std::to_string(count) + " " + verdict + (several ? "s" : "");
  }
  text += "\n" + Coverage(results);
  for (const BatchResult& result : results) {
    if (result.started && result.exit_code != 0) text += "repro: " + result.command + "\n";
  }
  return text;
}

}  // namespace vernier
