#include "io/bytes/record_spill.h"

#include <gtest/gtest.h>

#include <vector>

#include "io/results/io_test_data.h"
#include "util/process/process_memory.h"

namespace vernier {
namespace {

std::string RecordNumber(size_t i) { return std::to_string(i) + std::string(i % 300, 'r'); }

void Fill(RecordSpill& spill, size_t count) {
  while (spill.size() < count) spill.Append(RecordNumber(spill.size()));
}

void ExpectRecords(const RecordSpill& spill, size_t count) {
  EXPECT_EQ(spill.size(), count);
  size_t seen = 0;
  const Status status = spill.ForEach([&seen](std::string_view record) {
    EXPECT_EQ(record, RecordNumber(seen));
    ++seen;
    return Status();
  });
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(seen, count);
}

class RecordSpillTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  RecordSpill spill_ = RecordSpill(folder_ / "");
};

TEST_F(RecordSpillTest, RecordsComeBackInTheirOrder) {
  ExpectRecords(spill_, 0);
  Fill(spill_, 3);
  ExpectRecords(spill_, 3);
  Fill(spill_, 5000);  // beyond the buffer
  ExpectRecords(spill_, 5000);
  ExpectRecords(spill_, 5000);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "")) << "the file has no name";
}

TEST_F(RecordSpillTest, OneMayBeEmptyOrLargerThanTheBuffer) {
  const std::string large(1 << 20, 'l');
  for (const std::string& record : {std::string(), large, std::string("after")}) {
    spill_.Append(record);
  }
  std::vector<std::string> seen;
  ASSERT_TRUE(spill_
                  .ForEach([&seen](std::string_view record) {
                    seen.emplace_back(record);
                    return Status();
                  })
                  .ok());
  EXPECT_EQ(seen, (std::vector<std::string>{"", large, "after"}));
}

// Marks in the buffer, in the file, and at the beginning.
TEST_F(RecordSpillTest, GoesOnFromAMark) {
  for (const size_t kept : {size_t{4999}, size_t{100}, size_t{0}}) {
    ASSERT_TRUE(spill_.Truncate({}).ok());
    Fill(spill_, kept);
    const RecordSpill::Mark mark = spill_.mark();
    Fill(spill_, 5000);
    ASSERT_TRUE(spill_.Truncate(mark).ok());
    ExpectRecords(spill_, kept);
    Fill(spill_, 6000);
    ExpectRecords(spill_, 6000);
  }
}

TEST_F(RecordSpillTest, AFolderThatCannotBeWrittenLosesNothing) {
  RecordSpill spill(folder_ / "missing");
  Fill(spill, 5000);
  const RecordSpill::Mark mark = spill.mark();
  Fill(spill, 6000);
  ASSERT_TRUE(spill.Truncate(mark).ok());
  ExpectRecords(spill, 5000);
}

// One record throughout: a sanitizer keeps strings that are freed.
TEST_F(RecordSpillTest, MemoryDoesNotGrowWithTheRecords) {
  const std::string record(150, 'r');
  const auto fill = [&](size_t count) {
    while (spill_.size() < count) spill_.Append(record);
  };
  const auto count = [this] {
    size_t seen = 0;
    EXPECT_TRUE(spill_
                    .ForEach([&seen](std::string_view) {
                      ++seen;
                      return Status();
                    })
                    .ok());
    return seen;
  };
  fill(1000);
  EXPECT_EQ(count(), 1000u);
  const uint64_t most = *ResidentMemoryOf("self") + (uint64_t{8} << 20);
  fill(400'000);  // 60 MB
  EXPECT_LT(*ResidentMemoryOf("self"), most);
  EXPECT_EQ(count(), 400'000u);
  EXPECT_LT(*ResidentMemoryOf("self"), most);
}

TEST_F(RecordSpillTest, AnErrorOfTheUserEndsTheLoop) {
  Fill(spill_, 5000);
  size_t seen = 0;
  const Status status = spill_.ForEach(
      [&seen](std::string_view) { return ++seen < 7 ? Status() : IoError("no more"); });
  EXPECT_EQ(status.message(), "no more");
  EXPECT_EQ(seen, 7u);
}

}  // namespace
}  // namespace vernier
