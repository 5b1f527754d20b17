#include "record/schema/record_digest.h"

#include <gtest/gtest.h>

#include "vernier/run_record.h"

namespace vernier {
namespace {

TEST(RecordDigestTest, SaysWhatTheRecordHolds) {
  RunRecord record;
  PairRecord pair;
  pair.outputs.resize(3);
  pair.outputs[0].name = "good";
  pair.outputs[0].compared = pair.outputs[0].passed = 2;
  pair.outputs[0].worst_times_tolerance = 0.5;
  pair.outputs[1].name = "bad";
  pair.outputs[1].compared = 2;
  pair.outputs[1].worst_times_tolerance = 3;
  pair.outputs[1].dtype = "int32";
  pair.outputs[1].other_dtype = "int64";
  pair.outputs[2].name = "none";
  record.pairs.push_back(pair);
  record.runners.resize(3);
  record.runners[1].failure = "died";
  record.runners[2].failure = "died too";
  const RecordDigest digest = DigestOf(record);
  EXPECT_EQ(digest.outputs, 3);
  EXPECT_EQ(digest.failed, 2);
  EXPECT_EQ(digest.worst_output, "bad");
  EXPECT_EQ(digest.worst_times_tolerance, 3);
  EXPECT_EQ(digest.error, "died");
  EXPECT_EQ(digest.retyped, 1);
  EXPECT_EQ(digest.retyped_output, "bad (int32 against int64)");
}

TEST(RecordDigestTest, WhatAgreesInFewerIterationsThanAskedForIsCounted) {
  RunRecord record;
  PairRecord& pair = record.pairs.emplace_back();
  pair.outputs.resize(1);
  pair.outputs[0].compared = pair.outputs[0].passed = pair.compared_iterations = 2;
  pair.expected_iterations = 5;
  EXPECT_EQ(DigestOf(record).partial, 0);  // lenient: the other side has no more
  pair.incomplete = true;
  EXPECT_EQ(DigestOf(record).partial, 1);
}

// A run that was given up says so before what else went wrong.
TEST(RecordDigestTest, TheErrorIsTheWeightiestOne) {
  RunRecord record;
  record.faults = {"not saved", "nor this"};
  EXPECT_EQ(DigestOf(record).error, "not saved");
  record.runners.resize(1);
  record.runners[0].failure = "died";
  EXPECT_EQ(DigestOf(record).error, "died");
  record.error = "given up";
  EXPECT_EQ(DigestOf(record).error, "given up");
}

}  // namespace
}  // namespace vernier
