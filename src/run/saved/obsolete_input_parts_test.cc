#include "run/saved/obsolete_input_parts.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "io/results/feed_writer.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

// No process holds a lock of these folders, as on a file system that has none.
class ObsoleteInputPartsTest : public testing::Test {
 protected:
  ObsoleteInputPartsTest() {
    std::string name = testing::TempDir() + "vernier-stale-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~ObsoleteInputPartsTest() override { fs::remove_all(folder_); }

  static TensorMap Feed(float value) {
    const float values[] = {value, 2 * value};
    return {{"x", *Tensor::Copy(DType::kFloat32, {2}, std::as_bytes(std::span(values)))}};
  }

  // Parts of two feeds, of which the journal has `noted`.
  void Leave(size_t noted) {
    const auto writer = FeedWriter::Create(Path());
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    std::vector<size_t> ends = {0};
    for (const float value : {1.f, 2.f}) {
      ASSERT_TRUE((*writer)->Append(Feed(value)).ok());
      ends.push_back(fs::file_size(Journal()));
    }
    std::ifstream file(Journal(), std::ios::binary);
    journal_.assign(std::istreambuf_iterator<char>(file), {});
    Note(ends[noted]);
  }

  void Note(size_t bytes) {
    std::ofstream(Journal(), std::ios::binary) << journal_.substr(0, bytes);
  }

  std::string Path() const { return folder_ + "/in.json"; }
  std::string Partial() const { return Path() + ".partial"; }
  std::string Journal() const { return Partial() + "/journal.jsonl"; }

  std::string folder_, journal_;
};

TEST_F(ObsoleteInputPartsTest, PartsOfTheSameFeedsAreRemoved) {
  Leave(2);
  ObsoleteInputParts stale(Path(), "");
  stale.Compare(Feed(1));
  stale.Compare(Feed(2));
  stale.Remove();
  EXPECT_FALSE(fs::exists(Partial()));
}

TEST_F(ObsoleteInputPartsTest, PartsWithoutAFeedMayBeOfARunThatBegins) {
  Leave(0);
  ObsoleteInputParts(Path(), "").Remove();
  EXPECT_TRUE(fs::exists(Partial()));
  ObsoleteInputParts(Path(), Partial()).Remove();
  EXPECT_FALSE(fs::exists(Partial()));
}

TEST_F(ObsoleteInputPartsTest, PartsWhoseJournalIsDamagedStay) {
  Leave(0);
  std::ofstream(Journal(), std::ios::binary) << std::string(100, '\0');
  ObsoleteInputParts(Path(), Partial()).Remove();
  EXPECT_TRUE(fs::exists(Partial()));
}

TEST_F(ObsoleteInputPartsTest, PartsThatGrowAreOfARunThatGoesOn) {
  for (const size_t noted : {0, 1}) {
    Leave(noted);
    ObsoleteInputParts stale(Path(), Partial());
    stale.Compare(Feed(1));
    Note(journal_.size());
    stale.Remove();
    EXPECT_TRUE(fs::exists(Partial())) << noted;
    fs::remove_all(Partial());
  }
}

}  // namespace
}  // namespace vernier
