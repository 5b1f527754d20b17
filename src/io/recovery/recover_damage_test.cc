#include <chrono>

#include "io/recovery/recover.h"
#include "io/recovery/recover_for_test.h"

namespace vernier {
namespace {

// Without the directory, whose iterations are in their files already.
class DamagedParts : public Recovered {};

// Of the first runner's third iteration; the line is as long as before.
TEST_P(DamagedParts, ADamagedLineOfTheJournalCostsItsIteration) {
  Leave(5, 5);
  std::string journal = ReadText(Partial() + "/journal.jsonl");
  const size_t at = journal.find("{\"runner\":0,\"iteration\":2,");
  ASSERT_NE(at, std::string::npos);
  journal[at + 12] = 'x';
  WriteText(Partial() + "/journal.jsonl", journal);
  const auto recovered = RecoverResults(Partial(), folder_ / "x.npz");
  ASSERT_TRUE(recovered.ok()) << recovered.status().message();
  EXPECT_EQ((*recovered).lost, (std::vector<std::vector<size_t>>{{2}, {2}}));
  EXPECT_NE((*recovered).why_lost.find("its line in journal.jsonl is damaged"), std::string::npos);
  EXPECT_NE((*recovered).damage.find("journal.jsonl' is damaged in line "), std::string::npos);
  EXPECT_EQ((*recovered).kept_parts, Partial());
  const auto reader = ResultsReader::Open(folder_ / "x.npz");
  for (const int run : {0, 1}) {
    for (const int place : {0, 1, 2, 3}) {
      ExpectSample((*reader)->Read(static_cast<size_t>(run), static_cast<size_t>(place)), run,
                   place < 2 ? place : place + 1);
    }
  }
}

// What is not known to have been there is not promised, and still the parts stay.
TEST_P(DamagedParts, ADamagedLastLineIsSaid) {
  Leave(3, 3);
  std::string journal = ReadText(Partial() + "/journal.jsonl");
  journal[journal.size() - 5] = '?';
  WriteText(Partial() + "/journal.jsonl", journal);
  const auto recovered = RecoverResults(Partial(), folder_ / "x.json");
  ASSERT_TRUE(recovered.ok()) << recovered.status().message();
  EXPECT_EQ((*recovered).lost_count(), 0u);
  EXPECT_FALSE((*recovered).whole());
  EXPECT_EQ((*recovered).kept_parts, Partial());
  EXPECT_TRUE(fs::exists(Partial()));
  ExpectFile(folder_ / "x.json", {3, 2});
}

// Lines that are gone as a whole leave no mark in the journal, but the part goes on.
TEST_P(DamagedParts, AJournalThatWasCutBetweenTwoLinesIsNoKill) {
  Leave(5, 5);
  std::string journal = ReadText(Partial() + "/journal.jsonl");
  const size_t at = journal.find("{\"runner\":0,\"iteration\":2,");
  ASSERT_NE(at, std::string::npos);
  WriteText(Partial() + "/journal.jsonl", journal.substr(0, at));
  const auto recovered = RecoverResults(Partial(), folder_ / "x.json");
  ASSERT_TRUE(recovered.ok()) << recovered.status().message();
  EXPECT_NE((*recovered).damage.find("journal.jsonl' ends too early: '"), std::string::npos)
      << (*recovered).damage;
  EXPECT_EQ((*recovered).kept_parts, Partial());
  EXPECT_TRUE(fs::exists(Partial()));
  ExpectFile(folder_ / "x.json", {2, 2});
}

// What a kill leaves: the iteration is in the part, its line is not.
TEST_P(DamagedParts, OneIterationWithoutItsLineIsAKill) {
  Leave(3, 2);
  std::string journal = ReadText(Partial() + "/journal.jsonl");
  const size_t at = journal.find("{\"runner\":0,\"iteration\":2,");
  ASSERT_NE(at, std::string::npos);
  WriteText(Partial() + "/journal.jsonl", journal.substr(0, at));
  const auto recovered = RecoverResults(Partial(), folder_ / "x.json");
  ASSERT_TRUE(recovered.ok()) << recovered.status().message();
  EXPECT_EQ((*recovered).damage, "");
  ExpectFile(folder_ / "x.json", {2, 2});
}

// The same where each iteration is twice as large as the one before.
TEST_P(DamagedParts, AnIterationThatGrewAndHasNoLineIsAKill) {
  for (const int killed : {1, 2, 3}) {
    {
      const auto writer = ResultsWriter::Create(Path(), {kBothRunners[0], kBothRunners[1]});
      ASSERT_TRUE(writer.ok()) << writer.status().message();
      for (int i = 0; i <= killed; ++i) {
        for (const int run : {1, 0}) {
          IterationResult result;
          result.runner_name = kBothRunners[run];
          const int64_t size = run == 0 ? int64_t{64} << i : 64;
          result.outputs.push_back({"y", SampleTensor(DType::kFloat32, {size}, i)});
          ASSERT_TRUE((*writer)->Append(static_cast<size_t>(run), result).ok());
        }
      }
    }
    const std::string journal = ReadText(Partial() + "/journal.jsonl");
    const size_t at = journal.find("{\"runner\":0,\"iteration\":" + std::to_string(killed) + ",");
    ASSERT_NE(at, std::string::npos);
    const size_t layout = journal.rfind("{\"layout\":", at);
    WriteText(Partial() + "/journal.jsonl", journal.substr(0, std::min(at, layout)));
    const auto recovered = RecoverResults(Partial(), folder_ / "x.json");
    ASSERT_TRUE(recovered.ok()) << recovered.status().message();
    EXPECT_EQ((*recovered).damage, "") << killed;
    fs::remove_all(Partial());
  }
}

// A part that is shorter than the journal says loses the end, and says so.
TEST_P(DamagedParts, WhatThePartDoesNotReachIsSaid) {
  Leave(4, 4);
  fs::resize_file(PartOf(1), fs::file_size(PartOf(1)) - 10);
  const auto recovered = RecoverResults(Partial(), folder_ / "x.json");
  ASSERT_TRUE(recovered.ok()) << recovered.status().message();
  EXPECT_EQ((*recovered).lost, (std::vector<std::vector<size_t>>{{}, {3}}));
  EXPECT_NE((*recovered).why_lost.find("the part ends before the iteration does"),
            std::string::npos)
      << (*recovered).why_lost;
  EXPECT_TRUE(fs::exists(Partial()));
  ExpectFile(folder_ / "x.json", {4, 3});
}

class DamagedJson : public Recovered {};

TEST_P(DamagedJson, APartThatIsGoneCostsItsRunner) {
  for (const int gone : {0, 1}) {
    Leave(3, 3);
    WriteText(Path(), "older");
    fs::last_write_time(Path(), fs::last_write_time(PartOf(0)) - std::chrono::hours(1));
    fs::remove(PartOf(gone));
    const auto recovered = RecoverResults(Partial(), folder_ / "x.json");
    ASSERT_TRUE(recovered.ok()) << recovered.status().message();
    EXPECT_EQ((*recovered).lost[static_cast<size_t>(gone)], (std::vector<size_t>{0, 1, 2}));
    EXPECT_NE((*recovered).why_lost.find("the part is missing"), std::string::npos);
    const auto reader = ResultsReader::Open(folder_ / "x.json");
    const int whole = 1 - gone;
    EXPECT_EQ((*reader)->runs()[static_cast<size_t>(gone)].iterations, 0u);
    for (const int i : {0, 1, 2}) {
      ExpectSample((*reader)->Read(static_cast<size_t>(whole), static_cast<size_t>(i)), whole, i);
    }
    fs::remove_all(Partial());
  }
}

class DamagedFolder : public Recovered {};

// The files are synced, the journal is not: a file may have a runner that the journal has not.
TEST_P(DamagedFolder, APublishedFileIsNotTakenForAnotherRunners) {
  Leave(3, 3);
  std::string journal = ReadText(Partial() + "/journal.jsonl");
  const size_t at = journal.find("{\"runner\":0,\"iteration\":2,");
  const size_t end = journal.find('\n', at) + 1;
  WriteText(Partial() + "/journal.jsonl", journal.substr(0, at) + journal.substr(end));
  ASSERT_TRUE(RecoverResults(Partial(), folder_ / "x.json").ok());
  ExpectFile(folder_ / "x.json", {2, 3});
}

INSTANTIATE_TEST_SUITE_P(Formats, DamagedParts, testing::Values(".json", ".npz", ".safetensors"),
                         FormatName);
INSTANTIATE_TEST_SUITE_P(Formats, DamagedJson, testing::Values(".json"), FormatName);
INSTANTIATE_TEST_SUITE_P(Formats, DamagedFolder, testing::Values(""), FormatName);

}  // namespace
}  // namespace vernier
