#include "record/row_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "util/scratch_folder.h"

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

TEST(RowLine, SaysHowItStandsToTheErrorBound) {
  IterationRow row = Row();
  BoundRecord& bound = row.outputs[0].bound.emplace();
  bound.bound = 1e-6;
  bound.rms = 0.25;
  EXPECT_THAT(RowLine(row), HasSubstr(R"("a%2Fy/rms_error":0.25,"a%2Fy/error_bound":1e-06)"));
}

class RowColumnsTest : public testing::Test {
 protected:
  std::vector<RowColumn> Columns(std::string_view lines) {
    std::ofstream(path_) << lines;
    Result<std::vector<RowColumn>> columns = ReadRowColumns(path_);
    EXPECT_TRUE(columns.ok()) << columns.status().message();
    return columns.ok() ? *std::move(columns) : std::vector<RowColumn>();
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

TEST_F(RowColumnsTest, WhatIsNoRowIsNamed) {
  std::ofstream(path_) << "{\"index\":0}\n[1]\n";
  EXPECT_THAT(ReadRowColumns(path_).status().message(), HasSubstr("line 2: expected"));
  std::ofstream(path_) << "{\"index\":0}\n{\"index\":null}\n";
  EXPECT_THAT(ReadRowColumns(path_).status().message(), HasSubstr("'index' is null"));
  EXPECT_FALSE(ReadRowColumns(path_ + ".gone").ok());
}

}  // namespace
}  // namespace vernier
