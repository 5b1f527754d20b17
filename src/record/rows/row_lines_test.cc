#include "record/rows/row_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "record/schema/record_json.h"
#include "util/files/scratch_folder.h"

namespace vernier {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

IterationRow Row() {
  OutputRow y;
  y.output = "a/y";
  y.verdict = "passed";
  y.elements = 4;
  y.max_absolute_error = std::numeric_limits<double>::infinity();
  y.metrics[CompareFunction::kL2] = 0.5;
  return {.index = 7, .step = 0, .pair = "ort vs. ov", .input_hash = "00ff", .outputs = {y}};
}

TEST(RowLine, NamesOutputsAsSavedFilesDo) {
  EXPECT_EQ(RowLine(Row()), R"({"index":7,"step":0,"pair":"ort vs. ov","input_hash":"00ff",)"
                            R"("a%2Fy/verdict":"passed","a%2Fy/elements":4,)"
                            R"("a%2Fy/max_absolute_error":"inf","a%2Fy/l2":0.5})");
}

TEST(RowLine, NamesTheFileThatWasFed) {
  IterationRow row = Row();
  row.outputs.clear();
  row.file = {"a.png", 9, 12};
  EXPECT_THAT(RowLine(row), HasSubstr(R"("input_name":"a.png","input_index":9,"input_count":12})"));
}

TEST(WithRowsEnd, AddsHowManyThereAreAndWhatTheRunLeftOut) {
  const std::string line = R"({"index":0,"step":0})";
  EXPECT_EQ(WithRowsEnd(line, 1, {}), R"({"index":0,"step":0,"row_count":1})");
  EXPECT_EQ(WithRowsEnd(line, 7, {{"a", "b"}, {"c"}}),
            R"({"index":0,"step":0,"row_count":7,"not_done":["a","b"],"unfit_labels":["c"]})");
  RowsEnd end;
  end.passed_over = {"d"};
  EXPECT_EQ(WithRowsEnd(line, 1, end), R"({"index":0,"step":0,"row_count":1,"passed_over":["d"]})");
}

TEST(RowLine, SaysHowItStandsToTheErrorBound) {
  IterationRow row = Row();
  BoundRecord& bound = row.outputs[0].bound.emplace();
  bound.bound = 1e-6;
  bound.rms = 0.25;
  EXPECT_THAT(RowLine(row), HasSubstr(R"("a%2Fy/rms_error":0.25,"a%2Fy/error_bound":1e-06)"));
}

DecisionSample Sample(std::string first, std::string second, Flip flip) {
  DecisionSample sample;
  sample.first = std::move(first);
  sample.second = std::move(second);
  sample.first_margin = 0.5;
  sample.second_margin = std::numeric_limits<double>::infinity();
  sample.flip = flip;
  return sample;
}

TEST(RowLine, HasTheSamplesOfDecisions) {
  IterationRow row = Row();
  row.outputs.clear();
  row.first = "ort";
  row.second = "ov";
  row.decisions = {
      {"a/y", "top1", {Sample("3", "4", Flip::kClear)}},
      {"a/y", "top5", {Sample("1", "1", Flip::kNone), Sample("nan", "2", Flip::kNearTie)}},
      {"z", "sign", {}}};
  const std::string line = RowLine(row);
  EXPECT_THAT(line, HasSubstr(R"("a%2Fy/decision":"top1","a%2Fy/flip":"clear",)"));
  EXPECT_THAT(line, HasSubstr(R"("ort/a%2Fy/decision":"3","ort/a%2Fy/margin":0.5,)"
                              R"("ov/a%2Fy/decision":"4","ov/a%2Fy/margin":"inf")"));
  EXPECT_THAT(line, HasSubstr(R"("a%2Fy:top5/flip":["none","near tie"])"));
  EXPECT_THAT(line, HasSubstr(R"("ort/a%2Fy:top5/decision":["1","nan"])"));
  EXPECT_THAT(line, HasSubstr(R"("z/decision":"sign","z/flip":[],)"));
}

TEST(RowLine, TokensAreANumberOrAListForABatch) {
  IterationRow row;
  row.first = "a";
  row.second = "b/2";
  row.tokens = TokensOfStep{{7}, {-1}, true};
  EXPECT_THAT(RowLine(row), HasSubstr(R"("a/tokens":7)"));
  EXPECT_THAT(RowLine(row), HasSubstr(R"("b%2F2/tokens":-1)"));
  EXPECT_THAT(RowLine(row), HasSubstr(R"("after_divergence":1)"));
  row.tokens = TokensOfStep{{7, 8}, {7, 9}};
  EXPECT_THAT(RowLine(row), HasSubstr(R"("b%2F2/tokens":[7,9])"));
  EXPECT_THAT(RowLine(row), HasSubstr(R"("after_divergence":0)"));
}

TEST(RowLine, IsWhatJsonMakesOfItsValues) {
  IterationRow row;
  row.pair = "\"a\" vs. b\n";
  row.input_hash = "0f";
  row.file = FedFile{"b\xc3\xa4r.png", 2, 7};
  for (const double error : {0.0, 1.0, 0.1, 1e-5, 1e-300, 123456789.0, 1e22, 5e-324,
                             std::numeric_limits<double>::infinity()}) {
    OutputRow output;
    output.output = "y" + std::to_string(row.outputs.size());
    output.verdict = "failed";
    output.elements = 3;
    output.max_absolute_error = error;
    output.metrics[CompareFunction::kL2] = -error;
    row.outputs.push_back(output);
  }
  const std::string line = RowLine(row);
  EXPECT_EQ(DumpJson(RecordJson::parse(line), -1), line);
  EXPECT_THAT(line, HasSubstr(R"("y8/max_absolute_error":"inf")"));
}

class RowColumnsTest : public testing::Test {
 protected:
  std::vector<RowColumn> Columns(std::string_view lines) {
    std::ofstream(path_) << lines;
    std::vector<RowColumn> columns;
    const Status read = ForEachRowColumn(path_, [&](RowColumn column) {
      columns.push_back(std::move(column));
      return Status();
    });
    EXPECT_TRUE(read.ok()) << read.message();
    return columns;
  }

  const Result<ScratchFolder> folder_ = ScratchFolder::Create();
  const std::string path_ = folder_->path() + "/rows.jsonl";
};

TEST_F(RowColumnsTest, HaveAValueForEachRow) {
  const auto columns = Columns(
      "{\"index\":0,\"pair\":\"a vs. b\",\"y/l2\":1}\n"
      "{\"index\":1,\"pair\":\"a vs. b\",\"y/l2\":\"inf\",\"z/verdict\":\"failed\"}\n"
      "{\"index\":2,\"pair\":\"a vs. b\",\"z/l2\":2}\n");
  ASSERT_EQ(columns.size(), 5u);
  EXPECT_EQ(columns[0].name, "index");
  EXPECT_THAT(std::get<std::vector<int64_t>>(columns[0].values), ElementsAre(0, 1, 2));
  const auto& l2 = std::get<std::vector<double>>(columns[2].values);
  EXPECT_EQ(l2[0], 1);
  EXPECT_EQ(l2[1], std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(l2[2]));
  EXPECT_THAT(std::get<std::vector<std::string>>(columns[3].values), ElementsAre("", "failed", ""));
  EXPECT_TRUE(std::isnan(std::get<std::vector<double>>(columns[4].values)[0]));
}

TEST_F(RowColumnsTest, FillUpLists) {
  const auto columns = Columns(
      "{\"index\":0,\"a/y/decision\":\"nan\",\"a/y/margin\":1}\n"
      "{\"index\":1}\n"
      "{\"index\":2,\"a/y/decision\":[\"3\",\"4\"],\"a/y/margin\":[2,\"inf\"]}\n");
  ASSERT_EQ(columns.size(), 3u);
  EXPECT_EQ(columns[0].width, 1u);
  EXPECT_EQ(columns[1].width, 2u);
  EXPECT_THAT(std::get<std::vector<std::string>>(columns[1].values),
              ElementsAre("nan", "", "", "", "3", "4"));
  const auto& margins = std::get<std::vector<double>>(columns[2].values);
  ASSERT_EQ(margins.size(), 6u);
  EXPECT_EQ(margins[0], 1);
  for (const size_t empty : {1u, 2u, 3u}) EXPECT_TRUE(std::isnan(margins[empty]));
  EXPECT_EQ(margins[4], 2);
  EXPECT_EQ(margins[5], std::numeric_limits<double>::infinity());
}

TEST_F(RowColumnsTest, ValuesAreThoseOfJsonWhicheverWayTheyAreRead) {
  const auto columns = Columns(
      "{\"index\":0,\"n\":-0,\"d\":1e-5,\"big\":9223372036854775808,\"label\":\"1\"}\n"
      "{\"d\":2.5,\"index\":1,\"n\":-7,\"big\":1,\"label\":\"\\u00e4\"}\n"
      "{ \"index\": 2, \"n\": 3, \"d\": -1, \"big\": 2, \"label\": \"x\"}\n");
  ASSERT_EQ(columns.size(), 5u);
  EXPECT_THAT(std::get<std::vector<int64_t>>(columns[0].values), ElementsAre(0, 1, 2));
  EXPECT_THAT(std::get<std::vector<int64_t>>(columns[1].values), ElementsAre(0, -7, 3));
  EXPECT_THAT(std::get<std::vector<double>>(columns[2].values), ElementsAre(1e-5, 2.5, -1));
  EXPECT_THAT(std::get<std::vector<double>>(columns[3].values), ElementsAre(0x1p63, 1, 2));
  EXPECT_THAT(std::get<std::vector<std::string>>(columns[4].values),
              ElementsAre("1", "\xc3\xa4", "x"));
}

// More than is kept in memory, so that what was an integer, a number or nothing lies on the disk by
// then.
TEST_F(RowColumnsTest, BecomeNumbersAndTextsBehindAMillionRows) {
  constexpr int64_t kRows = 1000000;
  std::string lines;
  for (int64_t i = 0; i < kRows; ++i) lines += "{\"i\":" + std::to_string(i) + ",\"n\":3}\n";
  lines += "{\"i\":\"inf\",\"n\":4,\"late\":\"text\"}\n{\"late\":\"more\",\"n\":[5,6]}\n";
  const auto columns = Columns(lines);
  ASSERT_EQ(columns.size(), 3u);
  const auto& numbers = std::get<std::vector<double>>(columns[0].values);
  ASSERT_EQ(numbers.size(), size_t{kRows} + 2);
  for (int64_t i = 0; i < kRows; ++i) ASSERT_EQ(numbers[static_cast<size_t>(i)], i);
  EXPECT_EQ(numbers[kRows], std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(numbers[kRows + 1]));
  const auto& pairs = std::get<std::vector<double>>(columns[1].values);
  EXPECT_EQ(columns[1].width, 2u);
  ASSERT_EQ(pairs.size(), 2 * (size_t{kRows} + 2));
  EXPECT_EQ(pairs[0], 3);
  EXPECT_TRUE(std::isnan(pairs[1]));
  EXPECT_EQ(pairs[2 * kRows + 3], 6);
  const auto& texts = std::get<std::vector<std::string>>(columns[2].values);
  ASSERT_EQ(texts.size(), size_t{kRows} + 2);
  EXPECT_EQ(texts[0], "");
  EXPECT_EQ(texts[kRows], "text");
  EXPECT_EQ(texts[kRows + 1], "more");
}

TEST_F(RowColumnsTest, WhatIsNoRowIsNamed) {
  const auto take = [](const RowColumn&) { return Status(); };
  std::ofstream(path_) << "{\"index\":0}\n[1]\n";
  EXPECT_THAT(ForEachRowColumn(path_, take).message(), HasSubstr("line 2: expected"));
  std::ofstream(path_) << "{\"index\":0}\n{\"index\":null}\n";
  EXPECT_THAT(ForEachRowColumn(path_, take).message(), HasSubstr("'index' is null"));
  std::ofstream(path_) << "{\"label\":\"a\"}\n{\"label\":7}\n";
  EXPECT_THAT(ForEachRowColumn(path_, take).message(), HasSubstr("line 2: 'label' is 7"));
  EXPECT_FALSE(ForEachRowColumn(path_ + ".gone", take).ok());
}

}  // namespace
}  // namespace vernier
