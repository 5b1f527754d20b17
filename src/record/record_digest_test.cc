#include "record/record_digest.h"

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
  pair.outputs[2].name = "none";
  record.pairs.push_back(pair);
  record.runners.resize(3);
  record.runners[1].failure = "died";
  record.runners[2].failure = "died too";
  const Result<RecordDigest> digest = ReadRecordDigest(ToJson(record));
  ASSERT_TRUE(digest.ok()) << digest.status().message();
  EXPECT_EQ(digest->outputs, 3);
  EXPECT_EQ(digest->failed, 2);
  EXPECT_EQ(digest->worst_output, "bad");
  EXPECT_EQ(digest->worst_times_tolerance, 3);
  EXPECT_EQ(digest->error, "died");
}

TEST(RecordDigestTest, WhatHasTheWrongTypeIsNoPass) {
  const Result<RecordDigest> digest = ReadRecordDigest(R"({"schema_version": 1, "pairs": [{
      "outputs": [{"passed": null}, {"passed": "yes", "times_over_tolerance": []}, 7]}]})");
  ASSERT_TRUE(digest.ok()) << digest.status().message();
  EXPECT_EQ(digest->outputs, 2);
  EXPECT_EQ(digest->failed, 2);
}

TEST(RecordDigestTest, RefusesOtherJson) {
  for (const char* text : {"", "{", "[]", "{}", "{\"pairs\": []}", "null"}) {
    EXPECT_EQ(ReadRecordDigest(text).status().code(), StatusCode::kMalformed) << text;
  }
}

}  // namespace
}  // namespace vernier
