#include "report/text/verdict_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "record/schema/gate_text.h"
#include "report/text/run_summary.h"
#include "vernier/blame_record.h"

namespace vernier {
namespace {

using testing::HasSubstr;
using testing::Not;

RunRecord OnePair(const OutputRecord& output) {
  RunRecord record;
  record.pairs = {{"a", "b", {}, {}, 1, 1, 1, {output}, false, {}, {}}};
  return record;
}

TEST(DecideVerdict, AnOutputThatWasComparedAndPassedMatches) {
  OutputRecord output;
  output.name = "y";
  output.compared = output.passed = 1;
  EXPECT_EQ(DecideVerdict(OnePair(output)).outcome, Outcome::kMatched);
}

TEST(DecideVerdict, AnOutputThatWasNeverComparedIsNoMatch) {
  OutputRecord output;
  output.name = "y";
  const RunRecord record = OnePair(output);
  EXPECT_EQ(DecideVerdict(record).outcome, Outcome::kIncomplete);
  EXPECT_THAT(FormatRunSummary(record, {}), HasSubstr("a vs. b: NOT VERIFIED"));
  EXPECT_THAT(FormatRunSummary(record, {}), Not(HasSubstr("PASSED")));
}

TEST(DecideVerdict, AGateWithoutSamplesIsNotKept) {
  OutputRecord output;
  output.name = "y";
  output.compared = output.passed = 1;
  RunRecord record = OnePair(output);
  DecisionGateRecord gate;
  gate.gate = "--max-flip-rate";
  gate.output = "y";
  gate.kind = "top1";
  gate.verdict = kGateWithoutSamples;
  record.pairs[0].decision_gates = {gate};
  record.pairs[0].judged_by = "decisions";
  record.exit_code = 4;
  const VerdictText verdict = DecideVerdict(record);
  EXPECT_EQ(verdict.outcome, Outcome::kIncomplete);
  EXPECT_THAT(verdict.sentence, HasSubstr("Nothing was decided: --max-flip-rate"));
  EXPECT_THAT(verdict.sentence, Not(HasSubstr("within their gates")));
}

TEST(DecideVerdict, OneSentenceHasOneBut) {
  OutputRecord output;
  output.name = "y";
  output.compared = output.passed = 1;
  output.vacuous = "all elements are zero";
  RunRecord record = OnePair(output);
  record.pairs[0].incomplete = true;
  record.exit_code = 4;
  EXPECT_EQ(DecideVerdict(record).sentence,
            "The output matches, but that shows nothing, and less could be compared than was asked "
            "for.");
  record.pairs[0].outputs[0].vacuous.clear();
  EXPECT_EQ(DecideVerdict(record).sentence,
            "The output matches, but less could be compared than was asked for.");
}

TEST(DecideVerdict, BlameThatComparedNothingFindsNobodyInnocent) {
  RunRecord record;
  auto blame = std::make_shared<BlameRecord>();
  record.blame = blame;
  EXPECT_EQ(DecideVerdict(record).outcome, Outcome::kIncomplete);
  blame->compared = 1;
  EXPECT_EQ(DecideVerdict(record).outcome, Outcome::kMatched);
}

TEST(DecideVerdict, BlameThatCouldNotLookAtAnOutputIsNoAcquittal) {
  RunRecord record;
  auto blame = std::make_shared<BlameRecord>();
  blame->compared = 1;
  blame->error = "output 'z' was not examined: only the reference has it";
  record.blame = blame;
  EXPECT_EQ(DecideVerdict(record).outcome, Outcome::kIncomplete);
  EXPECT_THAT(DecideVerdict(record).sentence, HasSubstr("output 'z' was not examined"));
  EXPECT_THAT(DecideVerdict(record).sentence, Not(HasSubstr("Nothing is to blame")));
}

TEST(DecideVerdict, BlameOnFlipsLooksAtNoLayerWhereNothingFlips) {
  RunRecord record;
  auto blame = std::make_shared<BlameRecord>();
  blame->on_flips.emplace().decisions.emplace_back().samples = 400;
  record.blame = blame;
  EXPECT_EQ(DecideVerdict(record).outcome, Outcome::kMatched);
  EXPECT_EQ(DecideVerdict(record).sentence, "No decision flips, so nothing is to blame.");
  blame->on_flips->decisions[0].vacuous = "no sample of either side has a detection";
  EXPECT_THAT(DecideVerdict(record).sentence, HasSubstr("that shows nothing"));
  blame->error = "--decision top1: nothing was decided";
  EXPECT_EQ(DecideVerdict(record).outcome, Outcome::kIncomplete);
}

TEST(DecideVerdict, BlameWithinErrorBoundsIsNoAcquittalOfARunThatFailed) {
  OutputRecord output;
  output.name = "y";
  output.compared = 1;
  RunRecord record = OnePair(output);
  auto blame = std::make_shared<BlameRecord>();
  blame->compared = 1;
  blame->within_bounds = "No layer by itself exceeds its error bound, but ...";
  record.blame = blame;
  EXPECT_EQ(DecideVerdict(record).outcome, Outcome::kMismatched);
  EXPECT_EQ(DecideVerdict(record).sentence,
            "The output does not match. No layer by itself exceeds its error bound.");
}

TEST(DescribeFailure, NamesWhatIsOverItsErrorBound) {
  OutputRecord output;
  output.name = "y";
  output.compared = 1;
  GateRecord& gate = output.figures.gates.emplace_back();
  gate.function = "simple";
  gate.verdict = "failed";
  BoundRecord& bound = output.bound.emplace();
  bound.bound = 0.00351;
  bound.rms = 0.0507;
  bound.times_over = 14.444;
  EXPECT_THAT(DescribeFailure(output),
              HasSubstr("14.4 times over its error bound, by the root mean square error: 0.0507 "
                        "against 0.00351"));
}

// A saved record may hold anything.
TEST(DecideVerdict, ARunnerThatWasNotOpenedAddsNoSetOfShapes) {
  RunRecord record;
  record.profile.emplace();
  ProfilePoint missing, measured;
  missing.failure = "TensorRT was not found";
  measured.shapes = "x:[1,3]";
  record.profile->runners.resize(2);
  for (const auto& points : {std::vector{missing, measured}, std::vector{measured, missing}}) {
    record.profile->points = points;
    EXPECT_NE(DecideVerdict(record).sentence.find("2 runners measured with 1 set of shapes"),
              std::string::npos)
        << DecideVerdict(record).sentence;
  }
}

TEST(DecideVerdict, AProfileWithoutRunnersHasAVerdict) {
  RunRecord record;
  record.profile.emplace();
  ProfilePoint point;
  point.accuracy.compared = true;
  record.profile->points = {point};
  EXPECT_EQ(DecideVerdict(record).outcome, Outcome::kMismatched);
}

}  // namespace
}  // namespace vernier
