// Rows that are read without a tree of JSON values are those that are read with one.
#include "record/rows/decision_lines.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "record/rows/decision_rows.h"
#include "record/rows/row_lines.h"
#include "record/rows/totals_columns.h"

namespace vernier {
namespace {

constexpr double kNanOfLines = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinityOfLines = std::numeric_limits<double>::infinity();

IterationRow RowWith(const std::vector<DecisionSample>& samples) {
  IterationRow row;
  row.index = 17;
  row.pair = "a/b vs. c";
  row.first = "a/b";
  row.second = "c";
  row.decisions = {{"y", "top1", samples, 20}, {"y", "top5", samples}, {"z", "ctc=0", samples, 30}};
  return row;
}

DecisionSample SampleOf(std::string first, std::string second, double margin, Flip flip) {
  DecisionSample sample;
  sample.first = std::move(first);
  sample.second = std::move(second);
  sample.first_margin = margin;
  sample.second_margin = margin / 3;
  sample.near_tie = 1e-7;
  sample.flip = flip;
  sample.similarity = flip == Flip::kNone ? 1 : 0;
  return sample;
}

// Tests run side by side.
std::string PathOfTest() {
  return testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name() +
         ".jsonl";
}

std::vector<IterationRow> ReadAll(const std::string& text) {
  const std::string path = PathOfTest();
  std::ofstream(path, std::ios::binary) << text;
  std::vector<IterationRow> rows;
  const auto read = ForEachDecisionRow(path, [&](const IterationRow& row) {
    rows.push_back(row);
    return Status();
  });
  EXPECT_TRUE(read.ok()) << read.status().message();
  std::filesystem::remove(path);
  return rows;
}

// A space behind a comma keeps a line from the short way.
std::string Spaced(const std::string& line) {
  const size_t comma = line.find(',');
  return line.substr(0, comma + 1) + " " + line.substr(comma + 1);
}

TEST(DecisionLines, AreReadAsTheirParsedTextIs) {
  std::vector<DecisionSample> samples = {
      SampleOf("3", "3", 0.1, Flip::kNone), SampleOf("3", "5", kInfinityOfLines, Flip::kClear),
      SampleOf("invalid", "5", kNanOfLines, Flip::kInvalid),
      SampleOf("", "none", 5e-324, Flip::kNearTie), SampleOf("1 2", "1 2", -0.0, Flip::kNone)};
  samples[1].label = "3";
  samples[1].first_score = 1;
  samples[1].second_score = 0;
  samples[3].detail = "1 edit";
  samples[0].all_above = true;
  samples[3].negative_boxes = 4;
  samples[3].scores_above_one = 5;
  DecisionLines lines;
  IterationRow quick;
  for (const DecisionSample& sample : samples) {
    const std::string line = RowLine(RowWith({sample}));
    ASSERT_TRUE(lines.Read(line, quick)) << line;
    EXPECT_FALSE(lines.Read(Spaced(line), quick));
    ASSERT_TRUE(lines.Read(line, quick));
    const std::vector<IterationRow> slow = ReadAll(Spaced(line));
    ASSERT_EQ(slow.size(), 1u);
    EXPECT_EQ(quick.index, slow[0].index);
    EXPECT_EQ(quick.step, slow[0].step);
    EXPECT_EQ(quick.pair, slow[0].pair);
    ASSERT_EQ(quick.decisions.size(), 3u);
    ASSERT_EQ(slow[0].decisions.size(), 3u);
    IterationRow again = slow[0];
    quick.first = again.first = "a/b";
    quick.second = again.second = "c";
    EXPECT_EQ(RowLine(quick), RowLine(again)) << line;
    EXPECT_EQ(quick.decisions[0].classes, 20);
    EXPECT_EQ(quick.decisions[1].classes, std::nullopt);
    EXPECT_EQ(quick.decisions[0].samples[0].all_above, sample.all_above);
    EXPECT_EQ(quick.decisions[2].samples[0].negative_boxes, sample.negative_boxes);
    EXPECT_EQ(quick.decisions[2].samples[0].scores_above_one, sample.scores_above_one);
    EXPECT_EQ(std::signbit(quick.decisions[0].samples[0].first_margin),
              std::signbit(sample.first_margin));
  }
}

TEST(DecisionLines, HaveWhatIsAddedUp) {
  DecisionSample boxes = SampleOf("3:3", "3:4", 1, Flip::kClear), map = boxes;
  boxes.boxes = {3, 0, 1, 0, 2.0};
  map.classes = {{0, 5, 5, 5}, {7, 3, 4, 3}, {9, 2, 1, 1}};
  boxes.similarity = 0.5;
  map.similarity = 0.9;
  DecisionLines lines;
  IterationRow quick;
  const DecisionSample none = SampleOf("3", "3", 1, Flip::kNone);
  for (const DecisionSample& sample : {boxes, none, map, none}) {
    const std::string line = RowLine(RowWith({sample}));
    ASSERT_TRUE(lines.Read(line, quick)) << line;
    IterationRow slow = ReadAll(Spaced(line)).at(0);
    for (IterationRow* const row : {&quick, &slow}) {
      row->first = "a/b";
      row->second = "c";
    }
    EXPECT_EQ(RowLine(quick), RowLine(slow));
    EXPECT_EQ(quick.decisions[0].samples[0].boxes.has_value(), sample.boxes.has_value());
    EXPECT_EQ(OverlapsText(quick.decisions[2].samples[0].classes), OverlapsText(sample.classes));
  }
  // Of several samples, one without.
  const IterationRow several = ReadAll(RowLine(RowWith({boxes, none}))).at(0);
  EXPECT_EQ(several.decisions[0].samples[0].boxes.value().overlap, 2.0);
  EXPECT_FALSE(several.decisions[0].samples[1].boxes);
}

TEST(DecisionLines, LeaveOtherLinesToTheParser) {
  DecisionLines lines;
  IterationRow row;
  const DecisionSample sample = SampleOf("3", "4", 0.5, Flip::kClear);
  const std::string usual = RowLine(RowWith({sample}));
  ASSERT_TRUE(lines.Read(usual, row));
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string line = usual;
    line.replace(line.find(from), from.size(), to);
    return line;
  };
  for (const std::string& line :
       {RowLine(RowWith({sample, sample})), usual + " ", usual.substr(0, usual.size() - 1),
        usual + "}", replaced("\"3\"", "\"\\u0033\""), replaced("0.5", "00.5"),
        replaced("0.5", "0.5e"), replaced("0.5", "-0"), replaced("0.5", "null"),
        replaced("0.5", "\"a half\""), replaced("clear", "unclear"),
        replaced("y/near_tie", "y/near"), replaced("\"index\":17", "\"index\":17.0"),
        replaced("\"index\"", "\"step\""), replaced("a/b vs. c", "c vs. d"),
        replaced("\"index\":17", "\"index\":17,\"not_done\":\"something\""), std::string("{}"),
        std::string()}) {
    EXPECT_FALSE(lines.Read(line, row)) << line;
  }
  EXPECT_TRUE(lines.Read(usual, row));
}

TEST(DecisionLines, ComeFromFilesOfAnySize) {
  const std::string line = RowLine(RowWith({SampleOf("3", "4", 0.5, Flip::kClear)}));
  std::string text;
  size_t rows = 0;
  for (; text.size() < (size_t{5} << 19U); ++rows)
    text += (rows % 3 == 1 ? Spaced(line) : line) + "\n";
  EXPECT_EQ(ReadAll(text).size(), rows);
  text.pop_back();
  EXPECT_EQ(ReadAll(text).size(), rows);
  EXPECT_EQ(ReadAll("").size(), 0u);
}

// `rows`, `saved`, and whether the file ends there.
std::string ExtentOf(const std::string& text) {
  const std::string path = PathOfTest();
  std::ofstream(path, std::ios::binary) << text;
  const auto read = ForEachDecisionRow(path, [](const IterationRow&) { return Status(); });
  std::filesystem::remove(path);
  if (!read.ok()) return read.status().message();
  return std::to_string(read->rows) + " of " + std::to_string(read->saved) +
         (read->ended ? " ended" : " cut off") + (read->whole() ? ", whole" : "");
}

TEST(DecisionRows, AreWholeWhereTheLastSaysHowManyThereAre) {
  const std::string line = RowLine(RowWith({SampleOf("3", "4", 0.5, Flip::kClear)}));
  const std::string end = WithRowsEnd(line, 3, {}) + "\n", row = line + "\n";
  EXPECT_EQ(ExtentOf(row + row + end), "3 of 3 ended, whole");
  EXPECT_EQ(ExtentOf(row + row), "2 of 0 cut off");
  EXPECT_EQ(ExtentOf(row + end), "2 of 3 ended");
  EXPECT_EQ(ExtentOf(row + row + row + end), "4 of 3 ended");
  EXPECT_EQ(ExtentOf(row + row + end + row + row + end), "6 of 6 ended, whole");
  EXPECT_EQ(ExtentOf(row + row + end + row), "4 of 3 cut off");
}

// An output that failed would otherwise pass for one of which nothing is known.
TEST(DecisionRows, RefuseWhatIsNoVerdict) {
  const std::string line = RowLine(RowWith({SampleOf("3", "4", 0.5, Flip::kClear)}));
  const auto extent_with = [&](const std::string& verdict, bool spaced) {
    const std::string with = "{\"y/verdict\":" + verdict + "," + line.substr(1);
    return ExtentOf((spaced ? Spaced(with) : with) + "\n");
  };
  for (const bool spaced : {false, true}) {
    for (const char* const verdict : {"\"passed\"", "\"failed\"", "\"not verified\""}) {
      EXPECT_EQ(extent_with(verdict, spaced), "1 of 0 cut off");
    }
    for (const char* const verdict : {"0", "null", "[\"failed\"]", "\"Failed\""}) {
      EXPECT_NE(extent_with(verdict, spaced).find("line 1: 'y/verdict' is not a verdict"),
                std::string::npos)
          << verdict;
    }
  }
}

}  // namespace
}  // namespace vernier
