#include "io/recovery/recover.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <regex>

#include "io/recovery/recover_for_test.h"
#include "io/results/feed_reader.h"
#include "io/results/feed_writer.h"
#include "io/results/iteration_directory.h"
#include "io/results/partial_results.h"

namespace vernier {
namespace {

// Without the directory, whose iterations are in their files already.
class RecoveredParts : public Recovered {};

TEST_P(Recovered, EverythingComesBack) {
  for (const std::string target : {"", ".json", ".npz", ".safetensors"}) {
    Leave(4, 2);
    const std::string path = folder_ / ("recovered" + target);
    const auto recovered = RecoverResults(Partial(), path);
    ASSERT_TRUE(recovered.ok()) << recovered.status().message();
    EXPECT_EQ((*recovered).lost_count(), 0u);
    EXPECT_EQ((*recovered).runs[0].iterations, 4u);
    ExpectFile(path, {4, 2});
    EXPECT_FALSE(fs::exists(Partial()));
    fs::remove_all(Path());
  }
}

TEST(PartialFolder, KnowsWhatOutputsAreMadeFrom) {
  const TemporaryFolder folder;
  for (const int64_t batch_feeds : {1, 4}) {
    const auto writer = ResultsWriter::Create(folder / "a.npz", {"a"},
                                              PartialOrigin{.seed = 7, .batch_feeds = batch_feeds});
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    const auto manifest = ReadPartialManifest((*writer)->partial_path());
    ASSERT_TRUE(manifest.ok()) << manifest.status().message();
    EXPECT_EQ(manifest->origin.seed, 7);
    EXPECT_EQ(manifest->origin.batch_feeds, batch_feeds);
  }
}

TEST_P(Recovered, InTheOriginalPlace) {
  Leave(4, 3);
  const auto recovered = RecoverResults(Partial(), Path());
  ASSERT_TRUE(recovered.ok()) << recovered.status().message();
  ExpectFile(Path(), {4, 3});
  for (const auto& entry : fs::directory_iterator(folder_ / "")) {
    EXPECT_EQ(entry.path().string(), Path());  // no parts are left, under whatever name
  }
}

TEST_P(Recovered, HalfALineOfTheJournalIsNoIteration) {
  Leave(2, 2);
  const std::string journal = ReadText(Partial() + "/journal.jsonl");
  WriteText(Partial() + "/journal.jsonl", journal.substr(0, journal.size() - 3));
  ASSERT_TRUE(RecoverResults(Partial(), folder_ / "x.json").ok());
  ExpectFile(folder_ / "x.json", {2, 1});
}

// As when the machine lost power: the journal is on the disk, some of the part is not.
TEST_P(RecoveredParts, WhatIsDamagedIsLostAndSaid) {
  Leave(3, 3);
  for (const auto& entry : fs::directory_iterator(Partial())) {
    const std::string name = entry.path().filename();
    if (name == "manifest.json" || name == "journal.jsonl") continue;
    std::string text = ReadText(entry.path());
    std::fill(text.end() - 200, text.end(), '\0');
    WriteText(entry.path(), text);
  }
  const auto recovered = RecoverResults(Partial(), folder_ / "x.npz");
  ASSERT_TRUE(recovered.ok()) << recovered.status().message();
  EXPECT_GE((*recovered).lost_count(), 1u);
  EXPECT_LE((*recovered).lost_count(), 2u);
  EXPECT_NE((*recovered).why_lost.find("iteration 2 of runner 'a/b'"), std::string::npos)
      << (*recovered).why_lost;
  EXPECT_EQ((*recovered).kept_parts, Partial());
  EXPECT_TRUE(fs::exists(Partial()));
  ExpectFile(folder_ / "x.npz", {(*recovered).runs[0].iterations, 2});
}

TEST_P(RecoveredParts, OneChangedByteIsNoticed) {
  Leave(4, 4);
  ChangeAByte(0, 3);
  const auto recovered = RecoverResults(Partial(), folder_ / "x.json");
  ASSERT_TRUE(recovered.ok()) << recovered.status().message();
  EXPECT_EQ((*recovered).lost_count(), 1u);
  EXPECT_NE((*recovered).why_lost.find("iteration 3 of runner 'a/b': "), std::string::npos)
      << (*recovered).why_lost;
  EXPECT_NE((*recovered).why_lost.find("checksum"), std::string::npos) << (*recovered).why_lost;
  ExpectFile(folder_ / "x.json", {3, 4});
}

// The iterations of both runners go on belonging together.
TEST_P(RecoveredParts, WhatIsBehindADamagedIterationIsRecovered) {
  Leave(7, 6);
  ChangeAByte(0, 1);
  ChangeAByte(1, 3);
  ChangeAByte(0, 6);
  const auto recovered = RecoverResults(Partial(), folder_ / "x.npz");
  ASSERT_TRUE(recovered.ok()) << recovered.status().message();
  EXPECT_EQ((*recovered).lost, (std::vector<std::vector<size_t>>{{1, 3, 6}, {1, 3}}));
  EXPECT_TRUE((*recovered).moved_up);
  const auto reader = ResultsReader::Open(folder_ / "x.npz");
  ASSERT_TRUE(reader.ok()) << reader.status().message();
  for (size_t run = 0; run < 2; ++run) {
    ASSERT_EQ((*reader)->runs()[run].iterations, 4u);
    for (const size_t iteration : {0, 2, 4, 5}) {
      const size_t place = iteration < 2 ? 0 : iteration == 2 ? 1 : iteration - 2;
      ExpectSample((*reader)->Read(run, place), static_cast<int>(run), static_cast<int>(iteration));
    }
  }
  EXPECT_TRUE(fs::exists(Partial()));
}

// Files of a folder keep their numbers, so nothing behind a gap moves.
class RecoveredFolder : public Recovered {};

TEST_P(RecoveredFolder, NothingMovesUp) {
  Leave(4, 1);
  ChangeAByte(0, 2);
  const auto recovered = RecoverResults(Partial(), Path());
  ASSERT_TRUE(recovered.ok()) << recovered.status().message();
  EXPECT_EQ((*recovered).lost, (std::vector<std::vector<size_t>>{{2}, {}}));
  EXPECT_TRUE((*recovered).keeps_numbers);
  EXPECT_FALSE((*recovered).moved_up);
  for (const size_t i : {0, 1, 2, 3}) {
    EXPECT_EQ(fs::exists(IterationFilePath(Path(), i)), i != 2) << i;
  }
}

TEST_P(RecoveredParts, WhatItWasMadeFromIsStillKnown) {
  const auto writer = ResultsWriter::Create(Path(), {kBothRunners[0]});
  ASSERT_TRUE((*writer)->Append(0, SampleIteration(0, 0), 4711).ok());
  fs::copy(Partial(), folder_ / "copy.partial");
  ASSERT_TRUE(RecoverResults(folder_ / "copy.partial", folder_ / "x.npz").ok());
  EXPECT_EQ((*ResultsReader::Open(folder_ / "x.npz"))->FeedOf(0, 0), 4711u);
}

class RecoveredJson : public RecoveredParts {};

TEST_P(RecoveredJson, JournalsOfOlderVersionsHaveNoChecksum) {
  Leave(2, 2);
  const std::string journal = Partial() + "/journal.jsonl";
  const std::string without =
      std::regex_replace(ReadText(journal), std::regex(",\"(line_)?xxh3\":\"[0-9a-f]+\""), "");
  EXPECT_NE(without, ReadText(journal));
  WriteText(journal, without);
  ASSERT_TRUE(RecoverResults(Partial(), folder_ / "x.json").ok());
  ExpectFile(folder_ / "x.json", {2, 2});
}

// SIGKILL at any moment: what Append said is there can be recovered.
TEST_P(Recovered, AfterAKill) {
  for (int moment = 0; moment < 10; ++moment) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      const auto writer = ResultsWriter::Create(Path(), {kBothRunners[0], kBothRunners[1]});
      for (int i = 0; writer.ok() && i < 10'000; ++i) {
        for (int run = 0; run < 2; ++run) {
          if (!(*writer)->Append(static_cast<size_t>(run), SampleIteration(run, i)).ok())
            ::_exit(1);
          if (::write(ends[1], "x", 1) != 1) ::_exit(1);
        }
      }
      ::_exit(0);
    }
    ::close(ends[1]);
    char byte;
    size_t appended = 0;
    for (; appended < 3 && ::read(ends[0], &byte, 1) == 1; ++appended) {
    }
    ::usleep(static_cast<useconds_t>(700 * moment));
    ::kill(child, SIGKILL);
    while (::read(ends[0], &byte, 1) == 1) ++appended;
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    const auto recovered = RecoverResults(Partial(), Path());
    ASSERT_TRUE(recovered.ok()) << recovered.status().message();
    EXPECT_EQ((*recovered).lost_count(), 0u) << (*recovered).why_lost;
    const size_t first = (*recovered).runs[0].iterations;
    const size_t second = (*recovered).runs[1].iterations;
    EXPECT_GE(first + second, appended);
    EXPECT_LE(first + second, appended + 1);
    ExpectFile(Path(), {first, second});
    fs::remove_all(Path());
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, RecoveredParts, testing::Values(".json", ".npz", ".safetensors"),
                         FormatName);
INSTANTIATE_TEST_SUITE_P(Formats, RecoveredFolder, testing::Values(""), FormatName);
INSTANTIATE_TEST_SUITE_P(Formats, RecoveredJson, testing::Values(".json"), FormatName);
INSTANTIATE_TEST_SUITE_P(Formats, Recovered, testing::Values(".json", ".npz", ".safetensors", ""),
                         FormatName);

class RecoveredInputs : public testing::TestWithParam<const char*> {
 protected:
  void Leave(int count) {
    const auto writer = FeedWriter::Create(path_);
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    for (int i = 0; i < count; ++i)
      ASSERT_TRUE((*writer)->Append(SampleIteration(0, i).outputs).ok());
  }

  static void ExpectFeeds(const std::string& path, int count) {
    const auto reader = FeedReader::Open({path});
    ASSERT_TRUE(reader.ok()) << reader.status().message();
    for (int i = 0; i < count; ++i) {
      auto feed = (*reader)->Next();
      ASSERT_TRUE(feed.ok() && feed->has_value()) << feed.status().message();
      IterationResult result{.runner_name = kBothRunners[0], .runtime_s = {}, .outputs = **feed};
      result.runtime_s = SampleIteration(0, i).runtime_s;
      ExpectSample(result, 0, i);
    }
    EXPECT_FALSE((*reader)->Next()->has_value());
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / (std::string("in") + GetParam());
};

TEST_P(RecoveredInputs, EverythingComesBack) {
  for (const std::string target : {"", ".json", ".npz", ".safetensors"}) {
    Leave(4);
    const std::string path = folder_ / ("recovered" + target);
    const auto recovered = RecoverResults(path_ + ".partial", path);
    ASSERT_TRUE(recovered.ok()) << recovered.status().message();
    EXPECT_TRUE((*recovered).inputs);
    EXPECT_EQ((*recovered).lost_count(), 0u);
    EXPECT_EQ((*recovered).runs[0].iterations, 4u);
    ExpectFeeds(path, 4);
    EXPECT_FALSE(fs::exists(path_ + ".partial"));
  }
  EXPECT_FALSE(fs::exists(path_));
}

TEST_P(RecoveredInputs, OneChangedByteIsNoticed) {
  Leave(3);
  const std::string part =
      path_ + ".partial/" + (path_.ends_with(".json") ? "0.json" : "tensors.part");
  std::string text = ReadText(part);
  size_t at = text.size() - 1;  // of the last tensor's bytes
  if (path_.ends_with(".json")) at = text.rfind("\"array\": \"") + 200;
  text[at] = text[at] == 'A' ? 'B' : 'A';
  WriteText(part, text);
  const auto recovered = RecoverResults(path_ + ".partial", folder_ / "x.json");
  ASSERT_TRUE(recovered.ok()) << recovered.status().message();
  EXPECT_EQ((*recovered).lost_count(), 1u);
  EXPECT_NE((*recovered).why_lost.find("checksum"), std::string::npos) << (*recovered).why_lost;
  ExpectFeeds(folder_ / "x.json", 2);
}

TEST_P(RecoveredInputs, InTheOriginalPlace) {
  Leave(3);
  ASSERT_TRUE(RecoverResults(path_ + ".partial", path_).ok());
  ExpectFeeds(path_, 3);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / ""), {}), 1);
}

TEST_P(RecoveredInputs, HalfALineOfTheJournalIsNoFeed) {
  Leave(2);
  const std::string journal = ReadText(path_ + ".partial/journal.jsonl");
  WriteText(path_ + ".partial/journal.jsonl", journal.substr(0, journal.size() - 3));
  ASSERT_TRUE(RecoverResults(path_ + ".partial", folder_ / "x.json").ok());
  ExpectFeeds(folder_ / "x.json", 1);
}

INSTANTIATE_TEST_SUITE_P(Formats, RecoveredInputs, testing::Values(".json", ".npz", ".safetensors"),
                         FormatName);

TEST(RecoverResults, SaysWhatIsWrong) {
  TemporaryFolder folder;
  const auto refusal = [&](const std::string& name) {
    const auto recovered = RecoverResults(folder / name, folder / "x.json");
    return recovered.ok() ? "" : recovered.status().message();
  };
  EXPECT_NE(refusal("missing").find("called NAME.partial"), std::string::npos);
  const auto writer = *ResultsWriter::Create(folder / "a.json", {"a"});
  EXPECT_NE(refusal("a.json.partial").find("in use"), std::string::npos);
  EXPECT_NE(ResultsReader::Open(folder / "a.json.partial").status().message().find("data recover"),
            std::string::npos);
  fs::copy(folder / "a.json.partial", folder / "b.json.partial");
  EXPECT_NE(refusal("b.json.partial").find("no whole iteration"), std::string::npos);
  for (const char* manifest : {"", "{}", "[1", "{\"target\": 1}"}) {
    WriteText(folder / "b.json.partial/manifest.json", manifest);
    EXPECT_NE(refusal("b.json.partial").find("manifest.json"), std::string::npos) << manifest;
  }
  EXPECT_FALSE(fs::exists(folder / "x.json"));
  // Killed between the renaming of a part to the target and the removal of the folder.
  fs::copy(folder / "a.json.partial", folder / "c.json.partial");
  fs::rename(folder / "c.json.partial/0.json", folder / "a.json");
  EXPECT_NE(refusal("c.json.partial").find("a.json' was saved whole"), std::string::npos)
      << refusal("c.json.partial");
}

}  // namespace
}  // namespace vernier
