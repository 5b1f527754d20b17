#include "io/journal/journal.h"

#include <gtest/gtest.h>

#include <regex>

namespace vernier {
namespace {

JournalIteration EntryInJournal(size_t runner, size_t iteration) {
  return {.runner = runner,
          .iteration = iteration,
          .begin = 100 * iteration,
          .end = 100 * iteration + 90,
          .layout = std::nullopt,
          .name = std::nullopt,
          .runtime_s = 0.5,
          .checksum = 7,
          .feed = 8};
}

// Lines of two runners in turn.
std::vector<std::string> JournalLines(size_t iterations) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < iterations; ++i) {
    for (const size_t runner : {0, 1})
      lines.push_back(FormatJournalIteration(EntryInJournal(runner, i)));
  }
  return lines;
}

std::string JoinedLines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

std::vector<size_t> MissingIterations(const Journal& journal, size_t runner) {
  std::vector<size_t> missing;
  for (size_t i = 0; i < journal.runs[runner].size(); ++i) {
    if (!journal.runs[runner][i]) missing.push_back(i);
  }
  return missing;
}

using LineNumbers = std::vector<size_t>;

TEST(Journal, SaysWhatWasWritten) {
  const Journal journal = ParseJournal(JoinedLines(JournalLines(3)), 2);
  ASSERT_EQ(journal.runs[1].size(), 3u);
  ASSERT_TRUE(journal.runs[1][2]);
  EXPECT_EQ(journal.runs[1][2]->begin, 200u);
  EXPECT_EQ(journal.runs[1][2]->checksum, 7u);
  EXPECT_EQ(journal.runs[1][2]->feed, 8u);
  EXPECT_EQ(DescribeDamage(journal), "");
}

TEST(Journal, SaysWhatIterationsWereMadeWith) {
  const JournalSource package{"package", "numpy", "2.4"};
  const JournalSource module{"module", "a \"b\"", "00ff", "/x/a.py", "12ab"};
  std::vector<std::string> lines = JournalLines(2);
  lines.insert(lines.begin(), FormatJournalSource(package));
  lines.push_back(FormatJournalSource(module));
  const Journal journal = ParseJournal(JoinedLines(lines), 2);
  EXPECT_EQ(journal.sources, (std::vector<JournalSource>{package, module}));
  EXPECT_EQ(journal.runs[1].size(), 2u);
  EXPECT_EQ(DescribeDamage(journal), "");
}

TEST(Journal, ADamagedLineCostsWhatItDescribes) {
  std::vector<std::string> lines = JournalLines(6);
  lines[4][12] ^= 1;  // runner 0, iteration 2
  lines[7][40] ^= 4;  // runner 1, iteration 3
  const Journal journal = ParseJournal(JoinedLines(lines), 2);
  EXPECT_EQ(journal.damaged, (LineNumbers{5, 8}));
  EXPECT_EQ(DescribeDamage(journal), "is damaged in lines 5, 8");
  EXPECT_EQ(journal.runs[0].size(), 6u);
  EXPECT_EQ(journal.runs[1].size(), 6u);
  EXPECT_EQ(MissingIterations(journal, 0), LineNumbers{2});
  EXPECT_EQ(MissingIterations(journal, 1), LineNumbers{3});
}

// Every bit of a line is covered: what is still read is what was written.
TEST(Journal, NoChangedBitIsBelieved) {
  const std::vector<std::string> lines = JournalLines(2);
  const size_t before = lines[0].size() + lines[1].size();
  const std::string whole = JoinedLines(lines);
  for (size_t i = before; i < before + lines[2].size() - 1; ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string text = whole;
      text[i] = static_cast<char>(text[i] ^ (1 << bit));
      const Journal journal = ParseJournal(text, 2);
      ASSERT_EQ(journal.runs[1].size(), 2u) << text;
      EXPECT_TRUE(journal.runs[1][1]) << text;
      if (journal.runs[0].size() < 2) {
        EXPECT_FALSE(journal.damaged.empty()) << text;
        continue;
      }
      ASSERT_TRUE(journal.runs[0][1]) << text;
      EXPECT_EQ(FormatJournalIteration(*journal.runs[0][1]), lines[2]) << text;
    }
  }
}

TEST(Journal, ABlockOfZerosCostsTheLinesInIt) {
  std::string text = JoinedLines(JournalLines(100));
  std::fill(text.begin() + 4096, text.begin() + 8192, '\0');
  const Journal journal = ParseJournal(text, 2);
  EXPECT_EQ(journal.damaged.size(), 1u);
  EXPECT_EQ(journal.runs[0].size(), 100u);
  const size_t missing =
      MissingIterations(journal, 0).size() + MissingIterations(journal, 1).size();
  EXPECT_GE(missing, 20u);
  EXPECT_LE(missing, 45u);
}

TEST(Journal, AnEndOfZerosIsDamageAndHalfALineIsNot) {
  const std::string text = JoinedLines(JournalLines(3));
  const Journal zeros = ParseJournal(text + std::string(4096, '\0'), 2);
  EXPECT_EQ(zeros.damaged, LineNumbers{7});
  EXPECT_EQ(zeros.runs[1].size(), 3u);
  EXPECT_EQ(ParseJournal(std::string(4096, '\0'), 2).damaged, LineNumbers{1});
  const Journal half = ParseJournal(text.substr(0, text.size() - 9), 2);
  EXPECT_EQ(half.damaged, LineNumbers());
  EXPECT_EQ(half.runs[1].size(), 2u);
}

// The last lines of a runner are known to be damaged, though not what they were of.
TEST(Journal, ADamagedLastLineShortensItsRunner) {
  std::vector<std::string> lines = JournalLines(3);
  lines[5][3] ^= 1;
  const Journal journal = ParseJournal(JoinedLines(lines), 2);
  EXPECT_EQ(journal.damaged, LineNumbers{6});
  EXPECT_EQ(journal.runs[0].size(), 3u);
  EXPECT_EQ(journal.runs[1].size(), 2u);
}

TEST(Journal, OfOlderVersionsTheFirstDamagedLineIsTheEnd) {
  std::vector<std::string> lines = JournalLines(4);
  for (std::string& line : lines) {
    line = std::regex_replace(line, std::regex(",\"line_xxh3\":\"[0-9a-f]+\""), "");
  }
  const Journal whole = ParseJournal(JoinedLines(lines), 2);
  EXPECT_EQ(whole.runs[1].size(), 4u);
  EXPECT_EQ(DescribeDamage(whole), "");
  lines[2][0] = '?';
  const Journal journal = ParseJournal(JoinedLines(lines), 2);
  EXPECT_EQ(journal.runs[0].size(), 1u);
  EXPECT_EQ(journal.runs[1].size(), 1u);
  EXPECT_TRUE(journal.cut_off);
  EXPECT_NE(DescribeDamage(journal).find("is damaged in line 3, and"), std::string::npos);
}

TEST(Journal, WhatTensorsAreIsSaidMoreThanOnce) {
  KnownLayout known;
  size_t next = 0;
  std::string text;
  const float number = 1;
  const auto tensor = *Tensor::Copy(DType::kFloat32, {1}, std::as_bytes(std::span(&number, 1)));
  for (size_t i = 0; i < 100; ++i) {
    JournalIteration entry = EntryInJournal(0, i);
    text += DescribeLayout({{"y", tensor}}, known, next, entry);
    text += FormatJournalIteration(entry);
  }
  EXPECT_EQ(next, 1u);
  for (const size_t bytes : {1, 4096}) {
    std::string damaged = text;
    std::fill_n(damaged.begin(), bytes, '\0');
    const Journal journal = ParseJournal(damaged, 1);
    EXPECT_EQ(journal.layouts.size(), 1u) << bytes;
    EXPECT_EQ(journal.runs[0].size(), 100u) << bytes;
    EXPECT_EQ(journal.layouts.at(0).front().name, "y") << bytes;
  }
}

// Sizes that no journal of that length can have are no reason to ask for memory.
TEST(Journal, AnIterationBeyondEverythingIsNotBelieved) {
  const std::string text =
      JoinedLines(JournalLines(1)) + FormatJournalIteration(EntryInJournal(0, size_t{1} << 60));
  const Journal journal = ParseJournal(text, 2);
  EXPECT_EQ(journal.damaged, LineNumbers{3});
  EXPECT_EQ(journal.runs[0].size(), 1u);
}

}  // namespace
}  // namespace vernier
