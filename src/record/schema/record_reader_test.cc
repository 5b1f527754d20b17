#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "compare/functions/metric_table.h"
#include "core/test_values.h"
#include "vernier/run_record.h"

namespace vernier {
namespace {

using testing::HasSubstr;

DistanceRecord Distances() {
  DistanceRecord distances{{}, 7, {1, 0}, 3};
  double value = 0.125;
  for (const MetricRow& metric : MetricTable()) {
    if (metric.recorded != nullptr) distances.values[metric.function] = value *= 2;
  }
  distances.values[CompareFunction::kPsnr] = kInfinity;
  distances.values[CompareFunction::kSnr] = -kInfinity;
  return distances;
}

OutputFigures Figures() {
  OutputFigures figures;
  figures.iteration = 2;
  figures.shape = {2, 3};
  figures.gates = {{"l2", "failed", "far", 0.5, std::nullopt}};
  figures.first = SideRecord{"float32", -1, 2, 0.5, 0.25, 1, 2, std::vector<int64_t>{0, 1}, {}};
  figures.second = SideRecord{"float16", -3, kInfinity, 1, 2, 0, 1, {}, std::vector<int64_t>{1, 2}};
  figures.distances = Distances();
  figures.worst = {{{1, 2}, 1, 2, {}, {}, 1, 0.5, 4}, {{0, 0}, 0, 0, "a", "b", 1, 1, kInfinity}};
  figures.suggestion = "transpose it";
  ChartRecord charts;
  charts.low = -1;
  charts.high = 2;
  charts.first = {1, 2};
  charts.second = {3, 0};
  charts.differences = {-7, {4, 5}, 6, 1};
  charts.heat = {2, 3, 20, 30, 1, 1e-7, 0.5, "AB"};
  charts.points = "abcd";
  figures.charts = charts;
  return figures;
}

TimeRecord Times() {
  TimeRecord time{12,   10,    3,   1,    0, 0.25, 0.125, 0.5, 11,
                  true, 0.125, 0.5, 0.25, 6, 0.5,  true,  true};
  time.curve = {{0, 0.5, 2.0}, {4, {}, kInfinity}};
  time.steps_per_point = 4;
  time.crossed = CrossedRecord{9, 5, 2, 0.25, {{0, 0.125, 1.0}}, 2};
  return time;
}

OutputRecord Output() {
  OutputRecord output;
  output.name = "y";
  output.other_name = "z";
  output.paired_by = "position";
  output.pairing_error = 0.25;
  output.compared = 3;
  output.passed = 1;
  output.worst_times_tolerance = kInfinity;
  output.not_verified = 1;
  output.max_absolute_error = 0.5;
  output.max_relative_error = std::numeric_limits<double>::quiet_NaN();
  output.mean_absolute_error = 0.25;
  output.required_absolute = 0.75;
  output.required_relative = 2;
  output.elements = 6;
  output.mismatches = 4;
  output.not_finite = 2;
  output.allowed_share = 0.125;
  output.allowed_excess = 10;
  output.tolerances_checked = true;
  output.bound = BoundRecord{1, 9, 0.125, 2, 3, -4, 5, 6, 0.5, 0.25, 7, 8, "float32"};
  output.logits = LogitsRecord{true,  1,   9,   8,   7,   6,         5,   4,   3,    0.5, 0.25,
                               1.5,   2.5, 3.5, 4.5, 5.5, 6.5,       7.5, {2}, 8.5,  9.5, 0.75,
                               0.875, 0.9, 2,   1,   0.1, kInfinity, {0}, 5,   0.125};
  output.time = Times();
  output.vacuous = "no elements";
  output.figures = Figures();
  return output;
}

ProfileRecord Profile() {
  ProfilePoint point;
  point.runner = "a";
  point.shapes = "X:[1,3]";
  point.batch = 1;
  point.failure = "died";
  point.warm_ups = 2;
  point.first_seconds = 3;
  point.warm_up_seconds = 4;
  point.latency = {5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  point.per_second = 16;
  point.peak_memory = 17;
  point.layers = {{"conv", "Conv", 0.5}};
  point.layers_missing = "not told";
  point.accuracy = {true, true, "close", 2, 1, 30, 1, 0.5, "y", {"x (float32 against int64)"},
                    0.25};
  return {{{"a", "identity", "1.0", "CPU", "float32", 0.5}}, {point}};
}

DecodeRecord Decoded() {
  return {"logits",
          true,
          2,
          16,
          12,
          1,
          5.5,
          3,
          4,
          6,
          7,
          1,
          2,
          3,
          {{1, 2, 3, 281, -1, 0.5, std::numeric_limits<double>::quiet_NaN(), "near tie"}},
          {{4, 2, 1}},
          2,
          0.75};
}

// Every field has a value that it does not have by default.
RunRecord Everything() {
  RunRecord record;
  record.command = "vernier run";
  record.version = "1.2";
  record.origin = {{"vernier", "run"},     "/tmp", "2026-03-01T12:00:00Z", "Linux", "CPU", 8,
                   {{"--seed", "1", true}}};
  RunnerRecord runner;
  runner.name = "a";
  runner.backend = "identity";
  runner.framework_version = "1.0";
  runner.framework_path = "/lib";
  runner.model = "m.onnx";
  runner.device = "CPU";
  runner.precision = "float32";
  runner.load_seconds = 0.5;
  runner.latency = LatencyRecord{1, 2, 3};
  runner.iterations = 3;
  runner.mapped_inputs = {{"x", "input[:,64:]"}};
  runner.left_out_inputs = {"state"};
  runner.failure = "died";
  runner.skipped_outputs = {{"s", "its type"}};
  runner.received = ReceivedRecord{3, "0123456789abcdef", {{"x", "fedcba9876543210"}}};
  record.runners = {runner};
  record.pairs = {{"a", "b", {}, {}, 3, 1, 4, {Output()}, true, {"p"}, {"q"}}};
  record.pairs[0].decode = Decoded();
  record.averaged = true;
  record.error = "given up";
  record.faults = {"not saved"};
  record.notes = {"cast"};
  record.saved = {{"outputs", "out.json"}};
  record.exit_code = 5;
  record.seconds = 6;
  record.steps = StepsRecord{{4, 5}, "own", {{"a", "hn", "h"}}};
  record.graph = GraphRecord{"m.onnx", {"x"}, {"y"}, {{"n", "Relu", {"x"}, {"y"}}}};
  record.profile = Profile();
  return record;
}

TEST(ReadRecord, EverythingComesBack) {
  const std::string text = ToJson(Everything());
  const Result<RunRecord> read = ReadRecord(text, "r.json");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(ToJson(*read), text);
}

// The keys stay as they are, and a record that lacks one is read.
TEST(ReadRecord, MetricsHaveTheirNames) {
  const std::string text = R"({"schema_version": 1, "pairs": [{"outputs": [{"worst_iteration": {
      "distances": {"l2": 0.5, "snr": "inf", "kl_divergence": null}}}]}]})";
  const Result<RunRecord> read = ReadRecord(text, "r.json");
  ASSERT_TRUE(read.ok()) << read.status().message();
  const auto& values = read->pairs[0].outputs[0].figures.distances->values;
  EXPECT_EQ(values[CompareFunction::kL2], 0.5);
  EXPECT_EQ(values[CompareFunction::kSnr], kInfinity);
  EXPECT_EQ(values[CompareFunction::kKlDivergence], std::nullopt);
  EXPECT_EQ(values[CompareFunction::kRmse], std::nullopt);
}

TEST(ReadRecord, WhatIsAbsentHasItsDefault) {
  const Result<RunRecord> read = ReadRecord(R"({"schema_version": 1, "pairs": []})", "r.json");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(ToJson(*read), ToJson(RunRecord()));
}

// Error bounds were called bars.
TEST(ReadRecord, ReadsTheKeysOfEarlierRecords) {
  RunRecord record;
  record.pairs.emplace_back().outputs = {Output()};
  const std::string text = ToJson(record);
  std::string earlier = text;
  for (const char* key : {"bound", "bound_before", "gain_bound", "clean_bound", "element_bound"}) {
    std::string former = key;
    former.replace(former.find("bound"), 5, "bar");
    const std::string quoted = "\"" + std::string(key) + "\":";
    ASSERT_NE(earlier.find(quoted), std::string::npos) << key;
    earlier.replace(earlier.find(quoted), quoted.size(), "\"" + former + "\":");
  }
  const Result<RunRecord> read = ReadRecord(earlier, "r.json");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(ToJson(*read), text);
}

TEST(ReadRecord, NamesTheFieldThatHasTheWrongType) {
  const auto refusal = [](const std::string& text) {
    return ReadRecord(text, "r.json").status().message();
  };
  EXPECT_THAT(refusal(R"({"schema_version": 1, "pairs": [{"outputs": [{"name": 7}]}]})"),
              HasSubstr("'r.json': field 'pairs[0].outputs[0].name': expected text"));
  EXPECT_THAT(refusal(R"({"schema_version": 1, "pairs": [3]})"),
              HasSubstr("field 'pairs[0]': expected an object"));
  EXPECT_THAT(refusal(R"({"schema_version": 99, "pairs": []})"), HasSubstr("schema version 99"));
}

TEST(ReadRecord, RefusesOtherJson) {
  for (const char* text : {"", "{", "[]", "{}", "{\"pairs\": []}", "null"}) {
    EXPECT_EQ(ReadRecord(text, "r.json").status().code(), StatusCode::kMalformed) << text;
  }
}

// They have versions too.
TEST(ReadRecord, RefusesTheRecordsOfOtherCommands) {
  const Status status = ReadRecord(R"({"schema_version": 1, "checks": []})", "c.json").status();
  EXPECT_EQ(status.code(), StatusCode::kMalformed);
  EXPECT_THAT(status.message(), HasSubstr("'c.json' is not the record of a run"));
}

TEST(ReadRecord, RefusesARecordOfBlameThatLacksFields) {
  const Status status =
      ReadRecord(R"({"schema_version": 1, "culprits": [], "layers": []})", "b.json").status();
  EXPECT_EQ(status.code(), StatusCode::kMalformed);
  EXPECT_THAT(status.message(), HasSubstr("'b.json' is not a record of blame"));
}

TEST(Reproducible, NamesNoThread) {
  const std::string said =
      "died of SIGSEGV\nCurrent thread 0x00007fb1c01d (most recent call first):\n  f 0x10\n"
      "Thread 0x7f (idle)";
  RunRecord record;
  record.error = said;
  record.faults = {said};
  record.runners.resize(1);
  record.runners.front().failure = said;
  const RunRecord written = Reproducible(record);
  const std::string kept =
      "died of SIGSEGV\nCurrent thread 0x... (most recent call first):\n  f 0x10\n"
      "Thread 0x... (idle)";
  EXPECT_EQ(written.error, kept);
  EXPECT_EQ(written.faults.front(), kept);
  EXPECT_EQ(written.runners.front().failure, kept);
}

}  // namespace
}  // namespace vernier
