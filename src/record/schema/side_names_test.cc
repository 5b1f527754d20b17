#include "record/schema/side_names.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace vernier {
namespace {

RunRecord Compared(const std::string& first, const std::string& second) {
  RunRecord record;
  for (const std::string& name : {first, second}) {
    record.runners.emplace_back();
    record.runners.back().name = name;
  }
  record.pairs.emplace_back();
  record.pairs[0].first = first;
  record.pairs[0].second = second;
  record.notes = {first + " was fed float32"};
  return record;
}

TEST(WithSideNames, FailuresAndBlameFollow) {
  const std::string first = "onnxrt-runner-N0-11/23/26-05:00:13";
  RunRecord record = Compared(first, "openvino-runner-N0-11/23/26-05:00:13");
  record.runners[1].failure = first + " ended the worker that they shared";
  BlameRecord blame;
  blame.reference = first;
  blame.candidate = "openvino-runner-N0-11/23/26-05:00:13";
  blame.notes = {"'" + first + "' did not hand it out"};
  EXPECT_EQ(WithSideNames(blame, NameStyle::kShort).notes[0], "'onnxrt' did not hand it out");
  record.pairs[0].first_file = "gold.json";
  record.runners.erase(record.runners.begin());
  record.blame = std::make_shared<const BlameRecord>(std::move(blame));
  const RunRecord brief = WithSideNames(record, NameStyle::kShort);
  EXPECT_EQ(brief.pairs[0].first, "gold.json");
  EXPECT_EQ(brief.blame->reference, "gold.json");
  EXPECT_EQ(brief.blame->candidate, "openvino");
  EXPECT_EQ(brief.runners[0].failure, "gold.json ended the worker that they shared");
}

TEST(WithSideNames, UnnamedRunnersAreShortWhereThatIsUnique) {
  const RunRecord given =
      Compared("onnxrt-runner-N0-11/23/26-05:00:13", "openvino-runner-N0-11/23/26-05:00:13");
  const RunRecord brief = WithSideNames(given, NameStyle::kShort);
  EXPECT_EQ(brief.runners[0].name, "onnxrt");
  EXPECT_EQ(brief.pairs[0].first, "onnxrt");
  EXPECT_EQ(brief.pairs[0].second, "openvino");
  EXPECT_EQ(brief.notes[0], "onnxrt was fed float32");
  EXPECT_EQ(WithSideNames(given, NameStyle::kStable).pairs[0].second, "openvino-runner-N0");
  const RunRecord alike = WithSideNames(
      Compared("onnxrt-runner-N0-11/23/26-05:00:13", "onnxrt-runner-N1-11/23/26-05:00:13"),
      NameStyle::kShort);
  EXPECT_EQ(alike.pairs[0].first, "onnxrt-runner-N0");
  EXPECT_EQ(alike.pairs[0].second, "onnxrt-runner-N1");
  // A label of that name.
  const RunRecord labelled =
      WithSideNames(Compared("onnxrt", "onnxrt-runner-N0-11/23/26-05:00:13"), NameStyle::kShort);
  EXPECT_EQ(labelled.pairs[0].second, "onnxrt-runner-N0");
}

TEST(WithSideNames, LoadedSidesAreCalledByTheirFile) {
  RunRecord record;
  record.pairs.emplace_back();
  record.pairs[0].first = record.pairs[0].second = "r";
  record.pairs[0].first_file = "a.json";
  record.pairs[0].second_file = "b.json";
  record = WithSideNames(record, NameStyle::kShort);
  EXPECT_EQ(record.pairs[0].first, "r (a.json)");
  EXPECT_EQ(record.pairs[0].second, "r (b.json)");
  record.pairs[0].second = "onnxrt-runner-N0-11/23/26-05:00:13";
  EXPECT_EQ(WithSideNames(record, NameStyle::kShort).pairs[0].second, "b.json");
}

TEST(WithSideNames, WhatIsTheSameIsNumbered) {
  const RunRecord record =
      WithSideNames(Compared("trt-runner-N0-11/22/26-05:00:13", "trt-runner-N0-11/23/26-05:00:13"),
                    NameStyle::kShort);
  EXPECT_EQ(record.pairs[0].first, "trt-runner-N0");
  EXPECT_EQ(record.pairs[0].second, "trt-runner-N0 (2)");
}

}  // namespace
}  // namespace vernier
