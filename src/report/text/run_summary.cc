#include "report/text/run_summary.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "record/schema/coverage.h"
#include "record/schema/side_names.h"
#include "report/text/decision_text.h"
#include "report/text/decode_text.h"
#include "report/text/findings_text.h"
#include "report/text/next_step.h"
#include "report/text/step_text.h"
#include "report/text/text_table.h"
#include "report/text/tokens_text.h"
#include "report/text/verdict_text.h"
#include "util/text/first_line.h"
#include "util/text/number_text.h"
#include "util/text/shell_words.h"
#include "util/text/visible_text.h"
#include "util/values/joined.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

constexpr size_t kWorstShown = 5;
// Up to this many outputs the log above is the table.
constexpr size_t kFewOutputs = 3;

// One line, whatever the names in it hold.
std::string Line(std::string_view text) { return VisibleLine(text) + "\n"; }

std::string FormatSeconds(double seconds) {
  if (seconds < 1e-3) return FormatG(seconds * 1e6, 3) + " us";
  if (seconds < 1) return FormatG(seconds * 1e3, 3) + " ms";
  return FormatG(seconds, 3) + " s";
}

std::string RunnerTable(const RunRecord& record, bool interleaved) {
  std::vector<TextRow> rows = {{"runner", "framework", "device", "precision", "load", "first",
                                "median", interleaved ? "p95 (while interleaved)" : "p95"}};
  for (const RunnerRecord& runner : record.runners) {
    TextRow row = {runner.name, runner.backend + " " + runner.framework_version, runner.device,
                   runner.precision,
                   runner.load_seconds > 0 ? FormatSeconds(runner.load_seconds) : ""};
    if (runner.latency) {
      for (const double seconds :
           {runner.latency->first, runner.latency->median, runner.latency->p95}) {
        row.push_back(FormatSeconds(seconds));
      }
    }
    // Failures have lines of their own; a runner that was never opened has nothing to show.
    if (runner.failure.empty() && !runner.framework_version.empty()) rows.push_back(std::move(row));
  }
  std::string text = rows.size() > 1 ? FormatTable(rows) : "";
  for (const RunnerRecord& runner : record.runners) {
    if (!runner.failure.empty())
      // The rest of a failure is in the log above.
      text += Line("  " + runner.name + ": FAILED, " + FirstLine(runner.failure));
    for (const auto& [name, why] : runner.skipped_outputs) {
      text += "  " + VisibleLine(runner.name + ": output '" + name) + "' was not compared: " + why +
              "\n";
    }
  }
  return text;
}

struct RankedOutput {
  const PairRecord* pair;
  const OutputRecord* output;
  size_t position;
};

std::string VerdictCell(const OutputRecord& output) {
  return HasFailed(output) ? "FAILED" : std::string(OutputVerdict(output));
}

std::string Error(const OutputRecord& output, const std::optional<double>& error) {
  return error ? FormatError(*error, output) : "-";
}

// Of outputs that match, the quickest comparison only knows that nothing is out of tolerance.
std::string TimesOver(const OutputRecord& output) {
  if (!output.tolerances_checked) return "-";
  const bool bound = output.mismatches == 0 && !output.max_absolute_error;
  if (bound) return "none";
  if (std::isinf(output.worst_times_tolerance)) return "inf";
  return FormatG(output.worst_times_tolerance, 3) + "x";
}

TextRow OutputRow(const RankedOutput& ranked, bool several_pairs) {
  const OutputRecord& output = *ranked.output;
  TextRow row = {output.name,
                 VerdictCell(output),
                 TimesOver(output),
                 Error(output, output.max_absolute_error),
                 FormatRelativeError(output),
                 output.tolerances_checked
                     ? std::to_string(output.mismatches) + "/" + std::to_string(output.elements)
                     : "-"};
  if (several_pairs) row.push_back(ranked.pair->first + " vs. " + ranked.pair->second);
  return row;
}

std::string WorstOutputs(const RunRecord& record) {
  std::vector<RankedOutput> ranked;
  for (const PairRecord& pair : record.pairs) {
    for (const OutputRecord& output : pair.outputs) {
      ranked.push_back({&pair, &output, ranked.size()});
    }
  }
  if (ranked.size() <= kFewOutputs) return "";
  const auto first_failing = std::find_if(
      ranked.begin(), ranked.end(), [](const RankedOutput& r) { return HasFailed(*r.output); });
  const std::string first_name = first_failing == ranked.end() ? "" : first_failing->output->name;
  std::stable_sort(ranked.begin(), ranked.end(), [](const RankedOutput& a, const RankedOutput& b) {
    if (HasFailed(*a.output) != HasFailed(*b.output)) return HasFailed(*a.output);
    return a.output->worst_times_tolerance > b.output->worst_times_tolerance;
  });
  const bool several = record.pairs.size() > 1;
  std::vector<TextRow> rows = {
      {"worst outputs", "verdict", "over tolerance", "max abs", "max rel", "elements out"}};
  if (several) rows.front().push_back("runners");
  for (size_t i = 0; i < std::min(kWorstShown, ranked.size()); ++i) {
    rows.push_back(OutputRow(ranked[i], several));
  }
  std::string text = FormatTable(rows);
  if (!first_name.empty())
    text += Line("  first failing output, in the graph's order: " + first_name);
  return text;
}

std::string ListSome(const std::vector<std::string>& names) {
  constexpr size_t kShown = 4;
  return JoinedUpTo(names, kShown);
}

constexpr char kTypesDiffer[] = "; types differ: ";
constexpr char kFailedForTypes[] = "FAILED, as types differ";

std::string ListRetyped(const PairRecord& pair) {
  std::vector<std::string> retyped;
  for (const OutputRecord& output : pair.outputs) {
    if (!IsRetyped(output)) continue;
    retyped.push_back(output.name + " (" + output.dtype + " against " + output.other_dtype + ")");
  }
  return ListSome(retyped);
}

std::string VerdictWord(const PairRecord& pair) {
  // An average is judged in the place of the iterations.
  const bool failed = pair.average_passed
                          ? !*pair.average_passed
                          : std::any_of(pair.outputs.begin(), pair.outputs.end(), HasFailed);
  if (pair.outputs.empty()) return "NOTHING COMPARED";
  const bool unverified =
      std::any_of(pair.outputs.begin(), pair.outputs.end(),
                  [](const auto& output) { return OutputVerdict(output) == "not verified"; });
  if (JudgedByDecisions(pair)) {
    if (FailsGates(pair)) return "FAILED by decisions";
    if (!FailedUndecided(pair).empty() || FailsTokens(pair)) return "FAILED";
    if (pair.decisions.empty()) return "NOTHING DECIDED";
  } else if (failed || FailsGates(pair) || FailsTokens(pair)) {
    return "FAILED";
  }
  if (!JudgedByDecisions(pair) && std::ranges::any_of(pair.outputs, DiffersCrossed)) {
    return "FAILED with one state";
  }
  if (pair.rejected) return "FAILED by --strict";
  if (pair.retyped) return kFailedForTypes;
  if (JudgedByDecisions(pair) && pair.incomplete) return "INCOMPLETE";
  if (JudgedByDecisions(pair)) return IsLeftToMerge(pair) ? "left to merge" : "PASSED by decisions";
  return unverified ? "NOT VERIFIED" : pair.incomplete ? "INCOMPLETE" : "PASSED";
}

// "3 outputs", "1 of 2 outputs".
std::string SomeOf(int64_t some, int64_t all, std::string_view noun) {
  return all > some ? CountedOf(some, all, noun) : Counted(some, noun);
}

// " (shapes (2, 3) and (4, 3))", or nothing where the lines above say it.
std::string WhyIncomparable(const OutputRecord& output) {
  const std::string& shapes = output.figures.suggestion;
  if (!shapes.empty()) return " (" + shapes.substr(0, shapes.find(';')) + ")";
  for (const GateRecord& gate : output.figures.gates) {
    if (!gate.why.empty()) return " (" + FirstLine(gate.why) + ")";
  }
  return "";
}

std::string HowPaired(const OutputRecord& output) {
  const std::string& by = output.paired_by;
  if (by == "position") return "the only ones left";
  if (by == "shape") return "the only ones of their type and shape";
  if (by == "value" && output.pairing_error) {
    return "by value, e = " + FormatG(*output.pairing_error, 3);
  }
  return by == "substring" ? "one name is within the other" : "by " + by;
}

// TensorFlow's ":0" behind a name counts as no difference either.
std::string OnlyInCase(const PairRecord& pair) {
  const bool numbered =
      std::any_of(pair.outputs.begin(), pair.outputs.end(), [](const OutputRecord& output) {
        return output.paired_by == "folded" && output.name.size() != output.other_name.size();
      });
  return numbered ? "names differ in case or ':0' only" : "names differ in case only";
}

}  // namespace

bool HasFailed(const OutputRecord& output) { return output.differs(); }

namespace {

// Outputs that were paired otherwise than by name, could not be judged, or pass with a remark.
struct OddOutputs {
  std::vector<std::string> folded, mapped, structural, inexact, vacuous, all_nan, widened,
      incomparable, averaged;
  int64_t vacuous_elements = 0;

  void AddPairing(const OutputRecord& output);
  void AddResult(const OutputRecord& output);
};

void OddOutputs::AddPairing(const OutputRecord& output) {
  const std::string both = output.name + " with " + output.other_name;
  if (output.paired_by == "folded") {
    folded.push_back(both);
  } else if (output.paired_by == "map") {
    mapped.push_back(both);
  } else if (output.paired_by == "structure") {
    structural.push_back(both);
  } else if (output.paired_by != "exact") {
    inexact.push_back(both + " (" + HowPaired(output) + ")");
  }
}

void OddOutputs::AddResult(const OutputRecord& output) {
  if (!WasCompared(output)) {
    const bool named = output.not_verified > 0;
    if (!named) incomparable.push_back(output.name + WhyIncomparable(output));
    return;
  }
  const auto some = [&output](const char* in, int64_t count) {
    return output.name + " (" + in + CountedOf(count, output.compared, "iteration") + ")";
  };
  if (output.without_numbers > output.not_verified) {
    incomparable.push_back(some("in ", output.without_numbers - output.not_verified));
  }
  if (ShowsNothing(output) && HasFailed(output)) {
    all_nan.push_back(output.name);
  } else if (ShowsNothing(output)) {
    vacuous.push_back(output.name + " (" + output.vacuous + ")");
    vacuous_elements += output.elements;
  }
  if (output.agrees() && output.passed < output.compared) {
    averaged.push_back(some("", output.compared - output.passed));
  }
  if (output.bound && output.bound->condition > 1 && output.bound->times_over <= 1) {
    widened.push_back(output.name + " (κ = " + FormatG(output.bound->condition, 3) + ")");
  }
}

std::string ListOddOutputs(const PairRecord& pair, const CoverageCount& count) {
  OddOutputs odd;
  for (const OutputRecord& output : pair.outputs) {
    odd.AddPairing(output);
    odd.AddResult(output);
  }
  std::string text;
  const auto add = [&text](const std::string& what, const std::vector<std::string>& outputs) {
    if (!outputs.empty()) text += "; " + what + ": " + ListSome(outputs);
  };
  add("could not be compared", odd.incomparable);
  if (!odd.folded.empty()) add(OnlyInCase(pair), odd.folded);
  add("paired by --map-outputs", odd.mapped);
  add("paired by what their nodes compute", odd.structural);
  add("paired by likeness", odd.inexact);
  const std::string retyped = ListRetyped(pair);
  if (!retyped.empty()) text += kTypesDiffer + retyped;
  add("not verified", count.not_verified);
  add("over the threshold, but not on average", odd.averaged);
  add("ill-conditioned", odd.widened);
  add("all elements are NaN", odd.all_nan);
  add("shows nothing", odd.vacuous);
  if (!odd.vacuous.empty()) {
    text += " [" + CountedOf(odd.vacuous_elements, count.elements, "element") + "]";
  }
  return text;
}

// What is fed back is compared at every step only if that is asked for.
std::string ListStatesInPart(const PairRecord& pair) {
  std::map<int64_t, std::vector<std::string>> names;  // by the steps that were compared
  for (const OutputRecord& output : pair.outputs) {
    const bool in_part = output.time && output.time->fed_back && WasCompared(output) &&
                         output.time->steps < pair.compared_iterations;
    if (in_part) names[output.time->steps].push_back(output.name);
  }
  std::string text;
  for (const auto& [steps, outputs] : names) {
    text += "; fed back, compared at " + CountedOf(steps, pair.compared_iterations, "step") + ": " +
            ListSome(outputs);
  }
  return text;
}

// The axis may have one class at some steps alone.
bool IsLogitsAtTimes(const PairRecord& pair, const std::string& name) {
  const auto output = std::ranges::find(pair.outputs, name, &OutputRecord::name);
  return output != pair.outputs.end() && WasCompared(*output);
}

}  // namespace

std::string FormatCoverage(const PairRecord& pair) {
  const CoverageCount count = CountCoverage(pair);
  std::vector<std::string> not_logits = pair.not_logits;
  std::erase_if(not_logits, [&](const auto& name) { return IsLogitsAtTimes(pair, name); });
  const int64_t total = count.outputs + count.without_numbers + count.one_sided +
                        static_cast<int64_t>(LeftOutByScripts(pair).size()) +
                        static_cast<int64_t>(pair.left_out.size() + not_logits.size());
  std::string text = "compared " + SomeOf(count.outputs, total, "output") + " in " +
                     SomeOf(pair.compared_iterations, pair.expected_iterations, "iteration");
  if (count.elements > 0) {
    const bool uneven = std::ranges::any_of(pair.outputs, [&](const OutputRecord& output) {
      const bool in_part = WasCompared(output) && output.without_numbers > 0;
      return output.uneven || in_part ||
             (!pair.by_layer && output.compared < pair.compared_iterations);
    });
    text += (uneven ? ", up to " : ", ") + Counted(count.elements, "element") +
            (pair.compared_iterations > 1 ? " in each" : "");
  }
  if (!pair.only_in_first.empty()) {
    text += "; only in " + pair.first + ": " + ListSome(pair.only_in_first);
  }
  if (!pair.only_in_second.empty()) {
    text += "; only in " + pair.second + ": " + ListSome(pair.only_in_second);
  }
  if (!pair.without_verdict.empty()) text += "; no verdict on: " + ListSome(pair.without_verdict);
  if (!pair.dropped.empty()) text += "; dropped by post-processing: " + ListSome(pair.dropped);
  if (!pair.left_out.empty()) text += "; left out by --map-outputs: " + ListSome(pair.left_out);
  if (!pair.not_logits.empty()) {
    const bool at_times = not_logits.size() < pair.not_logits.size();
    text += "; left out by --compare logits" + std::string(at_times ? " in some iterations" : "") +
            ": " + ListSome(pair.not_logits);
  }
  return text + ListStatesInPart(pair) + ListOddOutputs(pair, count);
}

std::string FormatPair(const PairRecord& pair, bool averaged) {
  // Older records do not say how the average was.
  const bool known = !averaged || pair.average_passed;
  if (!known) return FormatCoverage(pair);
  const std::string word = VerdictWord(pair), retyped = ListRetyped(pair);
  if (word != kFailedForTypes || retyped.empty()) {
    return word + ", " + FormatCoverage(pair) + FormatOpenGates(pair);
  }
  // The coverage has the list behind all else; it is the verdict's reason here.
  std::string coverage = FormatCoverage(pair);
  const std::string list = kTypesDiffer + retyped;
  coverage.erase(coverage.find(list), list.size());
  return word + ": " + retyped + "; " + coverage;
}

std::string FormatRunSummary(const RunRecord& given, const SummaryOptions& options) {
  const RunRecord record = WithSideNames(given, NameStyle::kShort);
  std::string text = RunnerTable(record, options.interleaved) + WorstOutputs(record) +
                     FormatFindings(record, options.all_outputs);
  if (!record.shard.empty()) {
    text += "shard " + record.shard + ": these are its own iterations; vernier merge judges all\n";
  }
  for (const PairRecord& pair : record.pairs) {
    const std::string sides = pair.first + " vs. " + pair.second + ": ";
    text += Line(sides + FormatPair(pair, record.averaged));
    if (const std::string steps = FormatSteps(pair); !steps.empty()) text += Line(sides + steps);
    if (const std::string tokens = FormatDecode(pair); !tokens.empty())
      text += Line(sides + tokens);
    text += FormatDecisions(pair);
    for (const std::string& tokens : FormatTokens(pair)) text += Line(sides + tokens);
  }
  for (const std::string& note : record.notes) text += "note: " + note + "\n";
  for (const std::string& why : record.rejections) text += "failed: " + why + "\n";
  for (const std::string& fault : record.faults) text += "not done: " + fault + "\n";
  if (!text.empty() && !options.repro.empty()) text += "repro: " + options.repro + "\n";
  // What would make elements match is of no use where they do not count.
  const std::string judge = FormatJudge(record);
  return text + (judge.empty() ? FormatAdvice(record) : judge);
}

}  // namespace vernier
