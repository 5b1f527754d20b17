#include "report/text/verdict_text.h"

#include <algorithm>
#include <cmath>

#include "record/schema/coverage.h"
#include "record/schema/gate_text.h"
#include "report/text/decision_text.h"
#include "report/text/run_summary.h"
#include "util/text/first_line.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"
#include "vernier/blame_record.h"
#include "vernier/dtype.h"

namespace vernier {
namespace {

struct VerdictCounts {
  size_t outputs = 0;
  size_t failed = 0;
  size_t unverified = 0;
  size_t vacuous = 0;
};

VerdictCounts CountOutputs(const RunRecord& record) {
  VerdictCounts counts;
  for (const PairRecord& pair : record.pairs) {
    if (pair.by_layer) continue;
    for (const OutputRecord& output : pair.outputs) {
      ++counts.outputs;
      const bool failed = HasFailed(output);
      counts.failed += failed;
      counts.unverified += OutputVerdict(output) == "not verified";
      counts.vacuous += !failed && (pair.itself || !output.vacuous.empty());
    }
  }
  return counts;
}

// "3 of 41 outputs", or "All 3 outputs", "The output".
std::string Share(size_t some, size_t all) {
  if (all == 1) return "The output";
  return (some == all ? "All " : std::to_string(some) + " of ") + std::to_string(all) + " outputs";
}

std::string FailedRunners(const RunRecord& record) {
  std::string text;
  for (const RunnerRecord& runner : record.runners) {
    if (!runner.failure.empty()) text += (text.empty() ? "" : ", ") + runner.name;
  }
  return text;
}

// The verdict on the profile of runners that were measured one by one.
VerdictText ProfileVerdict(const ProfileRecord& profile) {
  size_t failed = 0, wrong = 0, rejected = 0, shapes = 0;
  std::string last, why;
  for (const ProfilePoint& point : profile.points) {
    failed += !point.failure.empty();
    const bool passed = !point.accuracy.compared || point.accuracy.passed;
    const bool agrees = point.accuracy.failed == 0 && !point.accuracy.why.empty();
    wrong += !passed && !agrees;
    rejected += !passed && agrees;
    if (!passed && agrees && why.empty()) why = point.accuracy.why;
    if (point.shapes.empty()) continue;  // of a runner that was not opened
    shapes += point.shapes != last;
    last = point.shapes;
  }
  if (shapes == 0 && !profile.points.empty()) shapes = 1;
  const std::string what = Counted(profile.runners.size(), "runner") + " measured with " +
                           Counted(shapes, "set of shapes", "sets of shapes");
  if (wrong > 0) {
    return {Outcome::kMismatched, what + "; the outputs of " +
                                      Counted(wrong, "measurement differ", "measurements differ") +
                                      " from those of " + ReferenceOf(profile) + "."};
  }
  if (rejected > 0) {
    return {Outcome::kMismatched,
            what + "; " + Counted(rejected, "measurement fails", "measurements fail") +
                " against " + ReferenceOf(profile) + ": " + FirstLine(why) + "."};
  }
  if (failed > 0) {
    return {Outcome::kIncomplete, what + "; " + Counted(failed, "measurement") + " failed."};
  }
  return {Outcome::kNoVerdict, what + "."};
}

VerdictText OutputsVerdict(const RunRecord& record, const VerdictCounts& counts) {
  if (record.averaged) {
    const auto fails = [](const PairRecord& pair) { return pair.average_passed == false; };
    const auto known = [](const PairRecord& pair) { return pair.average_passed.has_value(); };
    const bool old = std::none_of(record.pairs.begin(), record.pairs.end(), known);
    if (std::any_of(record.pairs.begin(), record.pairs.end(), fails) ||
        (old && record.exit_code == 1)) {
      return {Outcome::kMismatched, "On average over the iterations, not all outputs match."};
    }
  } else if (counts.failed > 1 && counts.failed == counts.outputs) {
    if (record.pairs.size() > 1) {
      return {Outcome::kMismatched,
              "No output matches in any of the " + std::to_string(record.pairs.size()) + " pairs."};
    }
    return {Outcome::kMismatched,
            "None of the " + std::to_string(counts.outputs) + " outputs matches."};
  } else if (counts.failed > 0) {
    return {Outcome::kMismatched, Share(counts.failed, counts.outputs) +
                                      Verb(counts.failed, " does", " do") + " not match."};
  }
  if (counts.unverified > 0) {
    return {Outcome::kIncomplete, "Nothing differs, but " +
                                      Counted(counts.unverified, "output was", "outputs were") +
                                      " not verified."};
  }
  std::string sentence =
      Share(counts.outputs, counts.outputs) + Verb(counts.outputs, " matches", " match");
  if (counts.vacuous > 0) {
    sentence +=
        ", but " + (counts.vacuous == counts.outputs
                        ? std::string("that shows nothing")
                        : Counted(counts.vacuous, "of them shows", "of them show") + " nothing");
  }
  return {Outcome::kMatched, sentence + ".", counts.vacuous == counts.outputs};
}

// "X, but why"; of a sentence that has its "but": "X, but Y, and why". Its full stop is missing.
void AddReservation(std::string& text, const std::string& why) {
  const size_t last = text.rfind(". ");
  const bool has = text.find(", but ", last == std::string::npos ? 0 : last) != std::string::npos;
  text += (has ? ", and " : ", but ") + why;
}

// Of gates the first each, of outputs the first that fails and that no gate is about; empty:
// there is none.
struct GateTexts {
  std::string missed, undecided, without_samples;
  std::string failed_output;
  int64_t all_missed = 0;
  bool any = false;
  bool left_to_merge = false;
};

GateTexts GatesOf(const RunRecord& record) {
  GateTexts gates;
  for (const PairRecord& pair : record.pairs) {
    if (pair.judged_by.empty() || pair.judged_by == "elements") continue;
    gates.left_to_merge |= IsLeftToMerge(pair);
    if (gates.failed_output.empty()) gates.failed_output = FailedUndecided(pair);
    for (const DecisionGateRecord& gate : pair.decision_gates) {
      gates.any = true;
      const bool empty = gate.verdict == kGateWithoutSamples;
      if (empty && gates.without_samples.empty()) gates.without_samples = GateInWords(gate);
      if (GateIsMissed(gate) && gates.all_missed++ == 0) gates.missed = GateInWords(gate);
      if (gates.undecided.empty() && gate.undecided) gates.undecided = GateInWords(gate);
    }
  }
  return gates;
}

std::string DescribeGates(const GateTexts& gates) {
  if (!gates.missed.empty()) {
    const int64_t more = gates.all_missed - 1;
    return "Decisions differ: " + gates.missed +
           (more > 0 ? "; " + Counted(more, "other gate") + " failed, too." : ".");
  }
  if (!gates.without_samples.empty()) return "Nothing was decided: " + gates.without_samples + ".";
  if (gates.left_to_merge) return "The decisions of this shard are left to `vernier merge`.";
  return gates.any ? "The decisions are within their gates." : "Nothing was decided.";
}

// `elements` with what the gates of decisions came to.
VerdictText WithDecisions(const RunRecord& record, VerdictText elements) {
  const GateTexts gates = GatesOf(record);
  const bool alone = JudgedByDecisions(record);
  if (!gates.any && !alone) return elements;
  std::string sentence = DescribeGates(gates);
  const bool all_named = gates.undecided.empty() || gates.undecided == gates.missed;
  if (!all_named) sentence += " Undecided: " + gates.undecided + ".";
  VerdictText verdict = elements;
  if (!gates.missed.empty()) verdict.outcome = Outcome::kMismatched;
  if (!alone) {
    verdict.sentence += " " + sentence;
    return verdict;
  }
  if (!gates.failed_output.empty()) {
    elements.sentence =
        "Output '" + gates.failed_output + "' does not match, and no gate is about it.";
  } else if (elements.outcome == Outcome::kMismatched) {
    elements.sentence.pop_back();
    elements.sentence += ", which is reported only.";
  }
  if (gates.missed.empty() && gates.failed_output.empty()) {
    const bool decided = gates.any && gates.without_samples.empty();
    verdict.outcome = gates.left_to_merge ? Outcome::kNoVerdict
                      : decided           ? Outcome::kMatched
                                          : Outcome::kIncomplete;
  }
  verdict.sentence = sentence + " " + elements.sentence;
  return verdict;
}

// All was decided, and no layer had to be looked at.
bool NothingFlipped(const BlameRecord& blame) {
  return blame.on_flips && blame.on_flips->iterations.empty() && blame.error.empty();
}

VerdictText NothingFlipsVerdict(const BlameFlipsRecord& flips) {
  const bool vacuous = std::ranges::any_of(
      flips.decisions, [](const DecisionRecord& decision) { return !decision.vacuous.empty(); });
  std::string sentence = "No decision flips, so nothing is to blame";
  if (vacuous) AddReservation(sentence, "that shows nothing");
  return {Outcome::kMatched, sentence + ".", vacuous};
}

VerdictText BlameVerdict(const BlameRecord& blame) {
  const BlameCoverage coverage = CoverageOf(blame);
  const bool empty = !blame.layers.empty() && coverage.elements == 0;
  if (NothingFlipped(blame)) return NothingFlipsVerdict(*blame.on_flips);
  if (blame.culprits.empty() && !blame.on_flips && (blame.compared == 0 || empty)) {
    return {Outcome::kIncomplete, "Nothing was compared."};
  }
  if (blame.culprits.empty() && !blame.error.empty()) {
    return {Outcome::kIncomplete,
            "No layer is blamed, but the search is not finished: " + FirstLine(blame.error) + "."};
  }
  if (blame.culprits.empty() && !blame.within_bounds.empty()) {
    return {Outcome::kMismatched, "No layer by itself exceeds its error bound."};
  }
  if (blame.culprits.empty()) {
    std::string sentence = "Nothing is to blame";
    if (coverage.shows_nothing()) AddReservation(sentence, "that shows nothing");
    if (coverage.retyped > 0) {
      AddReservation(sentence, "the types of " + Counted(coverage.retyped, "tensor") + " differ");
    }
    return {Outcome::kMatched, sentence + ".", coverage.shows_nothing()};
  }
  const BlameCulprit& first = blame.culprits.front();
  std::string sentence = first.node + " (" + first.op_type + ") is to blame";
  if (blame.culprits.size() > 1) {
    sentence += " first, " + Counted(blame.culprits.size() - 1, "node") + " after it";
  }
  return {Outcome::kMismatched, sentence + "."};
}

// Of pairs without a compared output.
VerdictText NothingCompared(const RunRecord& record) {
  std::string why = FirstLine(record.error);
  for (const std::vector<std::string>* sentences : {&record.rejections, &record.faults}) {
    if (why.empty() && !sentences->empty()) why = FirstLine(sentences->front());
  }
  // As a failed --validate does, and a name that the model does not have.
  const bool failed = record.exit_code == 1 && !why.empty();
  return {failed ? Outcome::kMismatched : Outcome::kIncomplete,
          "Nothing was compared" + (why.empty() ? "" : ": " + why) + "."};
}

VerdictText FromParts(const RunRecord& record) {
  const VerdictCounts counts = CountOutputs(record);
  if (record.blame) {
    const VerdictText blame = BlameVerdict(*record.blame);
    if (counts.outputs == 0) return blame;
    VerdictText both = WithDecisions(record, OutputsVerdict(record, counts));
    both.sentence += " " + blame.sentence;
    const bool counts_too = blame.outcome == Outcome::kMismatched && !JudgedByDecisions(record);
    if (counts_too) both.outcome = blame.outcome;
    return both;
  }
  if (counts.outputs > 0) return WithDecisions(record, OutputsVerdict(record, counts));
  if (record.profile) return ProfileVerdict(*record.profile);
  if (!record.pairs.empty()) return NothingCompared(record);
  if (record.graph && record.runners.empty()) {  // nothing ran: a model is shown
    return {Outcome::kNoVerdict, "The graph of " + record.graph->model + ": " +
                                     Counted(record.graph->nodes.size(), "node") + "."};
  }
  if (!record.error.empty()) {
    return {record.exit_code == 1 ? Outcome::kMismatched : Outcome::kIncomplete,
            "The run was stopped: " + FirstLine(record.error) + "."};
  }
  return {Outcome::kNoVerdict, "There was nothing to compare."};
}

std::string DescribeGate(const GateRecord& gate) {
  if (!gate.value || !gate.threshold)
    return gate.why.empty() ? "" : gate.function + ": " + gate.why;
  return gate.function + " is " + FormatG(*gate.value, 5) + ", the threshold is " +
         FormatG(*gate.threshold, 5) +
         (gate.why.empty() ? std::string() : " (" + FirstLine(gate.why) + ")");
}

std::string DescribeFailedMeans(const OutputRecord& output) {
  std::string text;
  for (const GateRecord& gate : output.failed_gates) {
    const std::string number = DescribeGate(gate);
    text += (text.empty() ? "" : "; ") +
            (number.empty() ? "the mean error is out of tolerance" : "the mean " + number);
  }
  return text.empty() ? "failed on average" : text;
}

std::string WhatElseWentWrong(const RunRecord& record) {
  const std::string failed = FailedRunners(record);
  if (!failed.empty()) return failed + " failed";
  if (!record.rejections.empty()) return FirstLine(record.rejections.front());
  if (!record.error.empty()) return "the run was stopped: " + FirstLine(record.error);
  const bool rejected = std::any_of(record.pairs.begin(), record.pairs.end(),
                                    [](const PairRecord& pair) { return pair.rejected; });
  if (rejected) return "--strict accepts no agreement that shows nothing";
  const bool retyped = std::any_of(record.pairs.begin(), record.pairs.end(),
                                   [](const PairRecord& pair) { return pair.retyped; });
  if (retyped) return "types of outputs differ";
  const bool incomplete = std::any_of(record.pairs.begin(), record.pairs.end(),
                                      [](const PairRecord& pair) { return pair.incomplete; });
  if (incomplete) return "less could be compared than was asked for";
  if (!record.faults.empty()) return FirstLine(record.faults.front());
  return "the run ended with exit code " + std::to_string(record.exit_code);
}

VerdictText DecideWhole(const RunRecord& record) {
  VerdictText verdict = FromParts(record);
  const bool complete =
      IsComplete(record) && FailedRunners(record).empty() && record.exit_code == 0;
  if (complete || verdict.outcome == Outcome::kIncomplete) return verdict;
  if (verdict.outcome != Outcome::kMismatched) {
    verdict.outcome = record.exit_code == 1 ? Outcome::kMismatched : Outcome::kIncomplete;
    const std::string why = WhatElseWentWrong(record);
    const bool said = why.starts_with("--strict") && verdict.sentence.ends_with(" nothing.");
    verdict.sentence.pop_back();
    if (said) {
      verdict.sentence += ", which --strict takes as a failure";
    } else {
      AddReservation(verdict.sentence, why);
    }
    verdict.sentence += '.';
  }
  return verdict;
}

}  // namespace

VerdictText DecideVerdict(const RunRecord& record) {
  VerdictText verdict = DecideWhole(record);
  if (!record.shard.empty()) {
    verdict.sentence = "Shard " + record.shard + ": " + verdict.sentence;
  }
  return verdict;
}

std::string_view OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kMatched:
      return "matched";
    case Outcome::kMismatched:
      return "mismatched";
    case Outcome::kIncomplete:
      return "incomplete";
    case Outcome::kNoVerdict:
      return "no verdict";
  }
  return "";
}

std::string DescribeFailure(const OutputRecord& output) {
  if (OutputVerdict(output) == "passed") return "";
  if (output.average_verdict == "failed") return DescribeFailedMeans(output);
  std::vector<std::string> parts;
  if (output.tolerances_checked && output.mismatches > 0) {
    parts.push_back(CountedOf(output.mismatches, output.elements, "element") + " out of tolerance" +
                    DescribeWorstElement(output));
  }
  if (const std::string bound = DescribeBound(output); !bound.empty()) parts.push_back(bound);
  if (output.max_absolute_error) {
    parts.push_back("largest absolute error " + FormatError(*output.max_absolute_error, output));
  }
  bool bound_reported = false;
  for (const GateRecord& gate : output.figures.gates) {
    if (gate.verdict == "passed") continue;
    bound_reported |= output.bound && gate.why == output.bound->why;
    if (const std::string text = DescribeGate(gate); !text.empty()) parts.push_back(text);
  }
  if (output.bound && !output.bound->why.empty() && !bound_reported) {
    parts.push_back("the error bound is for " + output.bound->why);
  }
  if (!output.figures.suggestion.empty()) parts.push_back(output.figures.suggestion);
  if (parts.empty()) parts.emplace_back(OutputVerdict(output));
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "; ") + FirstLine(part);
  return text;
}

std::string DescribeFailure(const PairRecord& pair, const OutputRecord& output) {
  const bool passed = OutputVerdict(output) == "passed";
  if (!passed || OutputVerdict(pair, output) == "passed") return DescribeFailure(output);
  return "types differ: " + output.dtype + " against " + output.other_dtype;
}

std::string ReferenceOf(const ProfileRecord& profile) {
  return profile.runners.empty() ? "the first runner" : profile.runners.front().name;
}

}  // namespace vernier
