#include "report/files/junit.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "record/schema/coverage.h"
#include "record/schema/gate_text.h"
#include "record/schema/side_names.h"
#include "report/text/decision_text.h"
#include "report/text/decode_text.h"
#include "report/text/next_step.h"
#include "report/text/text_escape.h"
#include "report/text/tokens_text.h"
#include "report/text/verdict_text.h"
#include "util/text/first_line.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"
#include "vernier/blame_record.h"
#include "vernier/tensor.h"

namespace vernier {
namespace {

// Of a test case: nothing for a pass.
enum class CaseResult : uint8_t { kPassed, kFailure, kError, kSkipped };

struct TestCase {
  std::string name;
  CaseResult result = CaseResult::kPassed;
  std::string message = {};
  std::string text = {};
  double seconds = 0;
};

struct TestSuite {
  std::string name;
  std::vector<TestCase> cases;

  size_t Count(CaseResult result) const {
    size_t count = 0;
    for (const TestCase& test : cases) count += test.result == result;
    return count;
  }
};

const char* TagOf(CaseResult result) {
  switch (result) {
    case CaseResult::kFailure:
      return "failure";
    case CaseResult::kError:
      return "error";
    default:
      return "skipped";
  }
}

TestSuite RunnerSuite(const RunRecord& record) {
  TestSuite suite{"runners", {}};
  for (const RunnerRecord& runner : record.runners) {
    TestCase test{.name = runner.name, .seconds = runner.load_seconds};
    if (!runner.failure.empty()) {
      test.result = CaseResult::kError;
      test.message = FirstLine(runner.failure);
      test.text = runner.failure;
    } else if (!record.error.empty() && runner.framework_version.empty()) {
      test.result = CaseResult::kSkipped;
      test.message = "never opened: " + FirstLine(record.error);
    }
    suite.cases.push_back(std::move(test));
    for (const auto& [name, why] : runner.skipped_outputs) {
      suite.cases.push_back(
          {runner.name + ": output '" + name + "'", CaseResult::kSkipped, why, "", 0});
    }
  }
  return suite;
}

// Of layers, only the worst iteration is known.
std::string IterationsOf(const PairRecord& pair, const OutputRecord& output) {
  if (pair.by_layer) {
    return pair.compared_iterations > 1
               ? "\nin iteration " + std::to_string(output.figures.iteration) + ", its worst of " +
                     std::to_string(pair.compared_iterations)
               : "";
  }
  return "\n" + std::to_string(output.passed) + " of " + Counted(output.compared, "iteration") +
         " passed";
}

std::string JunitValue(double value, const std::optional<std::string>& text,
                       const std::string& digits) {
  if (text) return *text;
  return digits.empty() ? FormatG(value, 9) : digits;
}

TestCase OutputCase(const PairRecord& pair, const OutputRecord& output) {
  TestCase test{.name = output.name};
  const std::string_view verdict = OutputVerdict(pair, output);
  if (verdict == "passed") {
    if (!output.vacuous.empty()) test.text = "shows nothing: " + output.vacuous;
    if (!output.average_verdict.empty() && output.passed < output.compared) {
      test.text += std::to_string(output.passed) + " of " + Counted(output.compared, "iteration") +
                   " passed, and the mean";
    }
    return test;
  }
  test.result = verdict == "failed" ? CaseResult::kFailure : CaseResult::kError;
  test.message = DescribeFailure(pair, output);
  if (OutputVerdict(output) == "passed") return test;  // the types fail, no value does
  test.text = test.message + IterationsOf(pair, output);
  for (const ElementRecord& element : output.figures.worst) {
    test.text += "\nat " + FormatDims(element.index) + ": " +
                 JunitValue(element.first, element.first_text, element.first_digits) + " against " +
                 JunitValue(element.second, element.second_text, element.second_digits);
  }
  return test;
}

// One for each gate; of decisions without a gate one that reports.
std::vector<TestCase> DecisionCases(const PairRecord& pair) {
  std::vector<TestCase> cases;
  for (const DecisionRecord& decision : pair.decisions) {
    const std::string name = "decision " + DecisionName(decision.kind, decision.output);
    const std::string labels = FormatLabels(decision);
    const std::string totals = FormatTotals(decision);
    const std::string text = FormatDecision(decision) + (labels.empty() ? "" : "\n" + labels) +
                             (totals.empty() ? "" : "\n" + totals);
    const size_t before = cases.size();
    for (const DecisionGateRecord& gate : pair.decision_gates) {
      if (gate.output != decision.output || gate.kind != decision.kind) continue;
      TestCase& test = cases.emplace_back(TestCase{.name = name + ", " + gate.gate, .text = text});
      const bool judged = pair.judged_by != "elements";
      if (judged && GateIsMissed(gate)) test.result = CaseResult::kFailure;
      if (gate.verdict == kGateWithoutSamples) test.result = CaseResult::kError;
      if (test.result != CaseResult::kPassed || gate.undecided) test.message = GateInWords(gate);
      if (gate.undecided) test.text += "\n" + test.message;
    }
    if (cases.size() == before) cases.push_back({.name = name, .text = text});
  }
  return cases;
}

// Where --min-token-agreement is a gate.
std::vector<TestCase> TokenCases(const PairRecord& pair) {
  if (!pair.decode || !pair.decode->min_agreement) return {};
  TestCase test{.name = "token agreement", .text = FormatDecode(pair)};
  if (pair.decode->agrees_too_little()) {
    test.result = CaseResult::kFailure;
    test.message = "only " + CountedOf(pair.decode->agreeing, pair.decode->tokens, "token") +
                   " agree (--min-token-agreement " + FormatG(*pair.decode->min_agreement, 6) + ")";
  }
  return {test};
}

// `error` is why the run was given up, or empty.
TestSuite PairSuite(const PairRecord& pair, const std::string& error) {
  TestSuite suite{pair.first + " vs. " + pair.second + (pair.by_layer ? ", layer by layer" : ""),
                  {}};
  for (const OutputRecord& output : pair.outputs) {
    TestCase& test = suite.cases.emplace_back(OutputCase(pair, output));
    if (output.logits_total) {
      test.text += (test.text.empty() ? "" : "\n") + FormatLogitsTotal(*output.logits_total);
    }
    if (output.tokens) test.text += (test.text.empty() ? "" : "\n") + FormatTokens(*output.tokens);
    if (!IsReportedOnly(pair, output) || test.result != CaseResult::kFailure) continue;
    test.result = CaseResult::kPassed;
    test.text = "reported only (--judge decisions): " + test.text;
  }
  for (TestCase& test : DecisionCases(pair)) suite.cases.push_back(std::move(test));
  for (TestCase& test : TokenCases(pair)) suite.cases.push_back(std::move(test));
  for (const auto& [names, why] :
       {std::pair(&pair.only_in_first, "only in " + pair.first),
        std::pair(&pair.only_in_second, "only in " + pair.second),
        std::pair(&pair.without_verdict, std::string("no verdict")),
        std::pair(&pair.dropped, std::string("dropped by post-processing")),
        std::pair(&pair.left_out, std::string("left out by --map-outputs")),
        std::pair(&pair.not_logits, std::string("left out by --compare logits"))}) {
    for (const std::string& name : *names) {
      suite.cases.push_back({name, CaseResult::kSkipped, why, "", 0});
    }
  }
  if (pair.outputs.empty()) {
    suite.cases.push_back({"comparison", CaseResult::kError, "nothing was compared", error, 0});
  }
  return suite;
}

TestSuite ProfileSuite(const ProfileRecord& profile) {
  TestSuite suite{"profile", {}};
  for (const ProfilePoint& point : profile.points) {
    TestCase test{.name = point.runner + " " + point.shapes, .seconds = point.latency.median};
    if (!point.failure.empty()) {
      test.result = CaseResult::kError;
      test.message = point.failure;
    } else if (point.accuracy.compared && !point.accuracy.passed) {
      test.result = CaseResult::kFailure;
      test.message =
          (point.accuracy.failed > 0 ? "outputs differ from those of " : "outputs fail against ") +
          ReferenceOf(profile) + ": " + point.accuracy.why;
    } else if (!point.accuracy.compared && point.runner != ReferenceOf(profile)) {
      test.result = CaseResult::kError;
      test.message = "not compared: " + point.accuracy.why;
    }
    suite.cases.push_back(std::move(test));
  }
  return suite;
}

TestSuite CulpritSuite(const BlameRecord& blame) {
  TestSuite suite{"blame", {}};
  for (const BlameCulprit& culprit : blame.culprits) {
    suite.cases.push_back(
        {culprit.node, CaseResult::kFailure, culprit.op_type + ": " + culprit.why, culprit.why, 0});
  }
  return suite;
}

// Whether all was done that was asked for. Its name stays, whatever was not.
TestCase CompletenessCase(const RunRecord& record) {
  TestCase test{.name = "completeness"};
  if (record.faults.empty()) {
    // A gate that failed is the verdict's: all was done that found it.
    const bool by_gate = std::ranges::any_of(record.pairs, FailsGates);
    if (record.error.empty() && (record.rejections.empty() || by_gate)) return test;
    // The verdict has the failure; nothing here may read as a pass.
    test.result = CaseResult::kSkipped;
    test.message = FirstLine(record.error.empty() ? record.rejections.front() : record.error);
    return test;
  }
  test.result = CaseResult::kError;
  test.message = record.faults.size() == 1
                     ? FirstLine(record.faults.front())
                     : Counted(static_cast<int64_t>(record.faults.size()), "thing") +
                           " asked for and not done: " + FirstLine(record.faults.front()) +
                           ", and more";
  for (const std::string& fault : record.faults) test.text += fault + "\n";
  return test;
}

// What no output stands for.
TestSuite RunSuite(const RunRecord& record) {
  TestSuite suite{"run", {CompletenessCase(record)}};
  const VerdictText verdict = DecideVerdict(record);
  TestCase whole{.name = "verdict", .seconds = record.seconds};
  whole.text = verdict.sentence;
  if (record.exit_code != 0) {
    whole.result =
        verdict.outcome == Outcome::kMismatched ? CaseResult::kFailure : CaseResult::kError;
    const bool incomplete = verdict.outcome == Outcome::kIncomplete;
    whole.message = (incomplete ? "INCOMPLETE: " : "") + verdict.sentence;
    whole.text = !record.error.empty()       ? record.error
                 : JudgedByDecisions(record) ? FormatJudge(record)
                                             : FormatAdvice(record);
    for (const std::string& why : record.rejections) whole.text += "\n" + why;
  }
  for (const PairRecord& pair : record.pairs) {
    const std::string steps = FormatStepsAndTokens(pair);
    if (!steps.empty()) whole.text += "\n" + pair.first + " vs. " + pair.second + ": " + steps;
  }
  suite.cases.push_back(std::move(whole));
  return suite;
}

std::string Attribute(const char* name, std::string_view value) {
  return std::string(" ") + name + "=\"" + XmlAttribute(value) + "\"";
}

std::string Counts(size_t tests, size_t failures, size_t errors, size_t skipped) {
  return Attribute("tests", std::to_string(tests)) +
         Attribute("failures", std::to_string(failures)) +
         Attribute("errors", std::to_string(errors)) +
         Attribute("skipped", std::to_string(skipped));
}

std::string FormatCase(const TestSuite& suite, const TestCase& test) {
  std::string text = "    <testcase" + Attribute("classname", suite.name) +
                     Attribute("name", test.name) + Attribute("time", FormatG(test.seconds, 6));
  if (test.result == CaseResult::kPassed && test.text.empty()) return text + "/>\n";
  text += ">\n";
  if (test.result == CaseResult::kPassed) {
    text += "      <system-out>" + XmlText(test.text) + "</system-out>\n";
  } else {
    const std::string tag = TagOf(test.result);
    text += "      <" + tag + Attribute("message", test.message) + ">" + XmlText(test.text) + "</" +
            tag + ">\n";
  }
  return text + "    </testcase>\n";
}

struct Totals {
  size_t tests = 0, failures = 0, errors = 0, skipped = 0;
  double seconds = 0;
};

// The suites of a record; of one of many, with its name before theirs.
std::string FormatSuites(const RunRecord& given, const std::string& prefix, Totals& totals) {
  // So that test machinery knows a case again.
  const RunRecord record = WithSideNames(given, NameStyle::kStable);
  std::vector<TestSuite> suites;
  if (!record.runners.empty()) suites.push_back(RunnerSuite(record));
  for (const PairRecord& pair : record.pairs) suites.push_back(PairSuite(pair, record.error));
  if (record.profile) suites.push_back(ProfileSuite(*record.profile));
  if (record.blame) suites.push_back(CulpritSuite(*record.blame));
  suites.push_back(RunSuite(record));
  std::string body;
  for (TestSuite& suite : suites) {
    suite.name = prefix + suite.name;
    const size_t failed = suite.Count(CaseResult::kFailure);
    const size_t broken = suite.Count(CaseResult::kError);
    const size_t left_out = suite.Count(CaseResult::kSkipped);
    body += "  <testsuite" + Attribute("name", suite.name) +
            Counts(suite.cases.size(), failed, broken, left_out) + ">\n";
    for (const TestCase& test : suite.cases) body += FormatCase(suite, test);
    body += "  </testsuite>\n";
    totals.tests += suite.cases.size();
    totals.failures += failed;
    totals.errors += broken;
    totals.skipped += left_out;
  }
  totals.seconds += record.seconds;
  return body;
}

std::string FormatDocument(const Totals& totals, const std::string& body) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + Attribute("name", "vernier") +
         Counts(totals.tests, totals.failures, totals.errors, totals.skipped) +
         Attribute("time", FormatG(totals.seconds, 6)) + ">\n" + body + "</testsuites>\n";
}

}  // namespace

std::string FormatJunit(const RunRecord& record) {
  Totals totals;
  const std::string body = FormatSuites(record, "", totals);
  return FormatDocument(totals, body);
}

std::string FormatJunit(std::span<const NamedRecord> records) {
  Totals totals;
  std::string body;
  for (const NamedRecord& named : records) {
    body += FormatSuites(named.record, named.name + ": ", totals);
  }
  return FormatDocument(totals, body);
}

}  // namespace vernier
