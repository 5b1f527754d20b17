#include "report/run_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace vernier {
namespace {

using testing::HasSubstr;
using testing::Not;

// One pair of runners that differ in `logits`, by at most 0.02.
RunRecord FailedRun(bool by_bar) {
  OutputRecord output;
  output.name = "logits";
  output.compared = 1;
  output.passed = 0;
  output.required_absolute = 0.02;
  output.required_relative = 0.5;
  if (by_bar) output.bar.emplace();
  PairRecord pair;
  pair.first = "a";
  pair.second = "b";
  pair.outputs.push_back(output);
  RunRecord record;
  record.pairs.push_back(pair);
  return record;
}

TEST(RunSummary, AdviceNamesTheToleranceThatWouldBeEnough) {
  EXPECT_THAT(FormatRunSummary(FailedRun(false), {}), HasSubstr("add --atol 0.02 --rtol 0.02"));
}

// A tolerance for all outputs is refused beside --tolerance auto: the advice must be one that
// works.
TEST(RunSummary, AdviceBesideAutomaticTolerancesNamesTheOutput) {
  EXPECT_THAT(FormatRunSummary(FailedRun(true), {}),
              HasSubstr("add --atol logits:0.02 --rtol logits:0.02"));
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
}

TEST(RunSummary, AdviceBesideAutomaticTolerancesNamesEveryFailedOutput) {
  RunRecord record = FailedRun(true);
  OutputRecord other = record.pairs[0].outputs[0];
  other.name = "prob";
  other.required_absolute = 0.0031;
  record.pairs[0].outputs.push_back(other);
  EXPECT_THAT(FormatRunSummary(record, {}),
              HasSubstr("add --atol logits:0.02 prob:0.0031 --rtol logits:0.02 prob:0.0031"));
  // One that had a tolerance of its own needs a larger one.
  record.pairs[0].outputs[1].bar.reset();
  EXPECT_THAT(FormatRunSummary(record, {}), HasSubstr("add --atol logits:0.02 prob:0.0031"));
}

}  // namespace
}  // namespace vernier
