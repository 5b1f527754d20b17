#include "backend/wire/wire.h"

#include <gtest/gtest.h>

#include <limits>

namespace vernier {
namespace {

TEST(Wire, NumbersAndTextsComeBackInOrder) {
  MessageWriter writer;
  writer.Number<uint8_t>(7);
  writer.Number<int64_t>(std::numeric_limits<int64_t>::min());
  writer.Text("");
  writer.Text(std::string_view("a\0b", 3));
  writer.Number(0.5);
  MessageReader reader(writer.bytes());
  EXPECT_EQ(reader.Number<uint8_t>(), 7);
  EXPECT_EQ(reader.Number<int64_t>(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(reader.Text(), "");
  EXPECT_EQ(reader.Text(), std::string("a\0b", 3));
  EXPECT_EQ(reader.Number<double>(), 0.5);
  EXPECT_TRUE(reader.finished());
}

TEST(Wire, ReaderIsNotFinishedBeforeItsEnd) {
  MessageWriter writer;
  writer.Number<uint16_t>(1);
  MessageReader reader(writer.bytes());
  EXPECT_FALSE(reader.finished());
  EXPECT_FALSE(reader.failed());
}

TEST(Wire, ReadingPastTheEndFailsForGood) {
  MessageWriter writer;
  writer.Number<uint32_t>(9);
  MessageReader reader(writer.bytes());
  EXPECT_EQ(reader.Number<uint64_t>(), 0u);
  EXPECT_TRUE(reader.failed());
  // Four bytes are there, but after a failure nothing is read.
  EXPECT_EQ(reader.Number<uint32_t>(), 0u);
  EXPECT_EQ(reader.Text(), "");
  EXPECT_EQ(reader.Count(1), 0u);
  EXPECT_FALSE(reader.finished());
}

TEST(Wire, TextLongerThanTheRestIsEmpty) {
  for (const uint64_t size : {uint64_t{4}, std::numeric_limits<uint64_t>::max()}) {
    MessageWriter writer;
    writer.Number(size);
    writer.Append(std::as_bytes(std::span("abc", 3)));
    MessageReader reader(writer.bytes());
    EXPECT_EQ(reader.Text(), "");
    EXPECT_TRUE(reader.failed());
  }
}

TEST(Wire, CountIsNeverMoreThanCanBeThere) {
  for (const uint64_t count : {uint64_t{3}, uint64_t{1} << 61, ~uint64_t{0}}) {
    MessageWriter writer;
    writer.Number(count);
    writer.Number<uint64_t>(0);
    writer.Number<uint64_t>(0);
    MessageReader reader(writer.bytes());
    EXPECT_EQ(reader.Count(sizeof(uint64_t)), 0u) << count;
    EXPECT_TRUE(reader.failed()) << count;
  }
  MessageWriter writer;
  writer.Number<uint64_t>(2);
  writer.Number<uint64_t>(0);
  writer.Number<uint64_t>(0);
  EXPECT_EQ(MessageReader(writer.bytes()).Count(sizeof(uint64_t)), 2u);
}

}  // namespace
}  // namespace vernier
