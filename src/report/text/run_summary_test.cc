#include "report/text/run_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace vernier {
namespace {

using testing::HasSubstr;
using testing::Not;

// One pair of runners that differ in `logits`, by at most 0.02.
RunRecord FailedRun(bool by_bound) {
  OutputRecord output;
  output.name = "logits";
  output.compared = 1;
  output.passed = 0;
  output.required_absolute = 0.02;
  output.required_relative = 0.5;
  if (by_bound) output.bound.emplace();
  PairRecord pair;
  pair.first = "a";
  pair.second = "b";
  pair.outputs.push_back(output);
  RunRecord record;
  record.pairs.push_back(pair);
  return record;
}

TEST(RunSummary, AdviceNamesTheToleranceThatWouldBeEnough) {
  EXPECT_THAT(FormatRunSummary(FailedRun(false), {}), HasSubstr("use --atol 0.02"));
}

TEST(RunSummary, IntegersThatEndAtInt32AreTheReason) {
  RunRecord record = FailedRun(false);
  record.runners.resize(2);
  for (RunnerRecord& runner : record.runners) {
    const bool first = &runner == &record.runners.front();
    runner.name = first ? record.pairs[0].first : record.pairs[0].second;
    runner.precision = first ? "integers" : "float32";
  }
  OutputRecord& output = record.pairs[0].outputs.at(0);
  output.dtype = output.other_dtype = "int64";
  SideRecord side;
  side.max = 7e14;
  output.figures.first = side;
  side.max = 2147483647;
  output.figures.second = side;
  EXPECT_THAT(FormatRunSummary(record, {}),
              HasSubstr("reason: " + record.pairs[0].second +
                        " ends at the limits of int32 in "
                        "output '" +
                        output.name + "', and " + record.pairs[0].first + " has values beyond\n"));
}

TEST(RunSummary, AdviceNamesBlameWhereItCanProbe) {
  RunRecord record = FailedRun(false);
  EXPECT_THAT(FormatRunSummary(record, {}), Not(HasSubstr("to find the layer")));
  record.runners.resize(2);
  record.runners[0].name = record.pairs[0].first;
  record.runners[0].model = "a.onnx";
  record.runners[1].name = record.pairs[0].second;
  record.runners[1].model = "b.engine";
  EXPECT_THAT(FormatRunSummary(record, {}), Not(HasSubstr("to find the layer")));
  record.runners[1].model = "b.onnx";
  EXPECT_THAT(FormatRunSummary(record, {}),
              HasSubstr("next: to find the layer: add --blame; to accept this difference: use"));
  record.shard = "2 of 3";  // --shard and `merge` know no --blame
  EXPECT_THAT(FormatRunSummary(record, {}),
              HasSubstr("next: to find the layer: run an iteration that failed with --blame; to"));
  record.shard.clear();
  record.steps = StepsRecord{};
  EXPECT_THAT(FormatRunSummary(record, {}),
              HasSubstr("next: to find the step and its layer: `vernier blame` with these runners "
                        "and steps; to accept"));
  // Against a file: probes of the one side need those of the other, and over steps both runners.
  record.runners.resize(1);
  EXPECT_THAT(FormatRunSummary(record, {}), Not(HasSubstr("vernier blame")));
  record.steps.reset();
  EXPECT_THAT(FormatRunSummary(record, {}),
              HasSubstr("`vernier blame` with outputs that were saved with --onnx-outputs '*' and "
                        "their inputs; to accept"));
  record.runners[0].backend = "python";
  EXPECT_THAT(FormatRunSummary(record, {}), Not(HasSubstr("to find the layer")));
}

// A tolerance for all outputs is refused beside --tolerance auto: the advice must be one that
// works.
TEST(RunSummary, AdviceBesideAutomaticTolerancesNamesTheOutput) {
  EXPECT_THAT(FormatRunSummary(FailedRun(true), {}),
              HasSubstr("use --atol logits:0.02 --rtol logits:0.02"));
}

TEST(RunSummary, PrecisionsAreTheReasonOnlyWhereBothAreKnown) {
  RunRecord record = FailedRun(false);
  record.runners.resize(2);
  record.runners[0].name = "a";
  record.runners[0].precision = "float32";
  record.runners[1].name = "b";
  EXPECT_THAT(FormatRunSummary(record, {}), Not(HasSubstr("computes in")));
  record.runners[1].precision = "float16";
  EXPECT_THAT(FormatRunSummary(record, {}), HasSubstr("a computes in float32, b in float16"));
  record.runners[1].precision = "strings";
  EXPECT_THAT(FormatRunSummary(record, {}), Not(HasSubstr("computes in")));
}

TEST(RunSummary, AdviceBesideAutomaticTolerancesNamesEveryFailedOutput) {
  RunRecord record = FailedRun(true);
  OutputRecord other = record.pairs[0].outputs[0];
  other.name = "prob";
  other.required_absolute = 0.0031;
  record.pairs[0].outputs.push_back(other);
  EXPECT_THAT(FormatRunSummary(record, {}),
              HasSubstr("use --atol logits:0.02 prob:0.0031 --rtol logits:0.02 prob:0.0031"));
  // One that had a tolerance of its own needs a larger one.
  record.pairs[0].outputs[1].bound.reset();
  EXPECT_THAT(FormatRunSummary(record, {}), HasSubstr("use --atol logits:0.02 prob:0.0031"));
}

// Two outputs of three iterations on both sides.
PairRecord ComparedPair() {
  PairRecord pair;
  pair.first = "a";
  pair.second = "b";
  pair.compared_iterations = pair.expected_iterations = 3;
  for (const char* name : {"logits", "prob"}) {
    OutputRecord output;
    output.name = output.other_name = name;
    output.paired_by = "exact";
    output.compared = output.passed = 3;
    output.elements = 10;
    pair.outputs.push_back(output);
  }
  return pair;
}

TEST(FormatCoverage, CountsOutputsIterationsAndElements) {
  EXPECT_EQ(FormatCoverage(ComparedPair()),
            "compared 2 outputs in 3 iterations, 20 elements in each");
}

TEST(FormatCoverage, IterationsThatDifferInSize) {
  PairRecord pair = ComparedPair();
  pair.outputs[0].uneven = true;
  EXPECT_EQ(FormatCoverage(pair), "compared 2 outputs in 3 iterations, up to 20 elements in each");
}

TEST(FormatCoverage, OneOfEachIsSingular) {
  PairRecord pair = ComparedPair();
  pair.outputs.pop_back();
  pair.outputs[0].elements = 1;
  pair.compared_iterations = pair.expected_iterations = 1;
  EXPECT_EQ(FormatCoverage(pair), "compared 1 output in 1 iteration, 1 element");
}

TEST(FormatCoverage, NamesWhatOneSideLacks) {
  PairRecord pair = ComparedPair();
  pair.expected_iterations = 5;
  pair.only_in_first = {"u", "v", "w", "x", "y"};
  pair.only_in_second = {"z"};
  EXPECT_EQ(
      FormatCoverage(pair),
      "compared 2 of 8 outputs in 3 of 5 iterations, 20 elements in each; only in a: u, v, w, "
      "x, and 1 more; only in b: z");
}

TEST(FormatCoverage, NamesWhatScriptsLeaveOut) {
  PairRecord pair = ComparedPair();
  pair.without_verdict = {"prob", "z"};  // prob has one in another iteration
  pair.dropped = {"u", "z"};
  EXPECT_EQ(FormatCoverage(pair),
            "compared 2 of 4 outputs in 3 iterations, 20 elements in each; no verdict on: prob, z; "
            "dropped by post-processing: u, z");
}

TEST(FormatCoverage, WhatIsLogitsInSomeIterationsIsCountedOnce) {
  PairRecord pair = ComparedPair();
  pair.not_logits = {pair.outputs[0].name};
  EXPECT_EQ(FormatCoverage(pair),
            "compared 2 outputs in 3 iterations, 20 elements in each; left out by --compare logits "
            "in some iterations: " +
                pair.outputs[0].name);
  pair.not_logits = {"cache"};
  EXPECT_EQ(FormatCoverage(pair),
            "compared 2 of 3 outputs in 3 iterations, 20 elements in each; left out by --compare "
            "logits: cache");
}

TEST(FormatCoverage, SaysWhatMapsAndValuesPaired) {
  PairRecord pair = ComparedPair();
  pair.outputs[0].other_name = "x[0]";
  pair.outputs[0].paired_by = "map";
  pair.outputs[1].other_name = "y";
  pair.outputs[1].paired_by = "value";
  pair.outputs[1].pairing_error = 2.5e-7;
  pair.left_out = {"state"};
  EXPECT_EQ(FormatCoverage(pair),
            "compared 2 of 3 outputs in 3 iterations, 20 elements in each; left out by "
            "--map-outputs: state; paired by --map-outputs: logits with x[0]; paired by likeness: "
            "prob with y (by value, e = 2.5e-07)");
}

TEST(FormatCoverage, NamesWhatShowsNothingAndHowMuchThatIs) {
  PairRecord pair = ComparedPair();
  pair.outputs[0].vacuous = "all zero";
  pair.outputs[1].other_name = "probability";
  pair.outputs[1].paired_by = "name";
  pair.outputs[1].not_verified = 1;
  EXPECT_EQ(
      FormatCoverage(pair),
      "compared 2 outputs in 3 iterations, 20 elements in each; paired by likeness: prob with "
      "probability (by name); not verified: prob; shows nothing: logits (all zero) [10 of 20 "
      "elements]");
}

TEST(FormatCoverage, SaysHowNamesWithoutANamesakeWerePaired) {
  PairRecord pair = ComparedPair();
  pair.outputs[0].other_name = "LOGITS";
  pair.outputs[0].paired_by = "folded";
  pair.outputs[1].other_name = "probability";
  pair.outputs[1].paired_by = "substring";
  EXPECT_EQ(FormatCoverage(pair),
            "compared 2 outputs in 3 iterations, 20 elements in each; names differ in case only: "
            "logits with LOGITS; paired by likeness: prob with probability (one name is within the "
            "other)");
}

TEST(FormatCoverage, CountsOnlyWhatHasNumbers) {
  PairRecord pair = ComparedPair();
  pair.outputs[0].without_numbers = pair.outputs[0].compared = 3;
  pair.outputs[0].passed = 0;
  pair.outputs[0].vacuous = "all elements are the same";
  pair.outputs[0].figures.gates = {{"simple", "failed", "the shapes differ", {}, {}}};
  EXPECT_EQ(FormatCoverage(pair),
            "compared 1 of 2 outputs in 3 iterations, 10 elements in each; could not be compared: "
            "logits (the shapes differ)");
  pair.outputs[0].figures.suggestion = "the shapes are (1, 40) and (2, 20); --no-shape-check would";
  EXPECT_THAT(FormatCoverage(pair), HasSubstr("logits (the shapes are (1, 40) and (2, 20))"));
}

TEST(FormatCoverage, NamesWhatCouldNotBeComparedInSomeIterations) {
  PairRecord pair = ComparedPair();
  pair.outputs[0].without_numbers = 1;
  pair.outputs[0].passed = 2;
  EXPECT_EQ(FormatCoverage(pair),
            "compared 2 outputs in 3 iterations, up to 20 elements in each; could not be compared: "
            "logits (in 1 of 3 iterations)");
  pair.outputs[0].without_numbers = pair.outputs[0].not_verified = 3;
  pair.outputs[0].passed = 0;
  EXPECT_EQ(FormatCoverage(pair),
            "compared 1 of 2 outputs in 3 iterations, 10 elements in each; not verified: logits");
}

TEST(FormatCoverage, NamesChangedTypes) {
  PairRecord pair = ComparedPair();
  pair.outputs[0].dtype = "int64";
  pair.outputs[0].other_dtype = "float64";
  EXPECT_THAT(FormatCoverage(pair), HasSubstr("; types differ: logits (int64 against float64)"));
}

TEST(FormatCoverage, AnOutputOfOneSideAloneHasNoOtherType) {
  PairRecord pair = ComparedPair();
  pair.outputs[0].dtype = "undefined";
  pair.outputs[0].other_dtype = "float64";
  EXPECT_THAT(FormatCoverage(pair), Not(HasSubstr("types differ")));
}

TEST(FormatRunSummary, APairOfWhichPartWasComparedIsIncomplete) {
  RunRecord record;
  record.pairs = {ComparedPair()};
  record.pairs[0].only_in_first = {"w"};
  record.pairs[0].incomplete = true;
  EXPECT_THAT(FormatRunSummary(record, {}), HasSubstr("INCOMPLETE, compared 2 of 3 outputs"));
}

TEST(FormatRunSummary, AnAverageHasAVerdict) {
  RunRecord record;
  record.averaged = true;
  record.pairs = {ComparedPair()};
  record.pairs[0].average_passed = true;
  EXPECT_THAT(FormatRunSummary(record, {}), HasSubstr(": PASSED, compared 2 outputs"));
  record.pairs[0].average_passed = false;
  EXPECT_THAT(FormatRunSummary(record, {}), HasSubstr(": FAILED, compared 2 outputs"));
}

TEST(FormatCoverage, NothingComparedIsNoPass) {
  RunRecord record;
  PairRecord pair = ComparedPair();
  pair.outputs.clear();
  pair.compared_iterations = 0;
  record.pairs.push_back(pair);
  EXPECT_THAT(FormatRunSummary(record, {}),
              HasSubstr("NOTHING COMPARED, compared 0 outputs in 0 of 3 iterations"));
}

}  // namespace
}  // namespace vernier
