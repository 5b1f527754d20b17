#include "io/json/json_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "io/results/io_test_data.h"
#include "util/files/input_file.h"

namespace vernier {
namespace {

TEST(JsonStream, MembersAndElementsInTheirOrder) {
  JsonStream stream(JsonText(R"({"a":[1,[2,{"x":3}],4],"b":{"c":null},"d":"\u0041"})"), "it");
  ASSERT_TRUE(stream.Advance().ok());
  std::string seen;
  const Status status = stream.ForEachMember([&](const std::string& key) -> Status {
    seen += key;
    if (stream.is(JsonToken::kString)) seen += *stream.Text();
    if (!stream.is(JsonToken::kBeginArray)) return stream.Skip();
    return stream.ForEachElement([&] {
      seen += stream.raw();
      return stream.Skip();
    });
  });
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(seen, "a1[4bdA");
  ASSERT_TRUE(stream.Advance().ok());
  EXPECT_TRUE(stream.is(JsonToken::kEnd));
}

TEST(JsonStream, ErrorsSayWhatTheTextIs) {
  JsonStream stream(JsonText("{\"a\" 1}"), "the list");
  ASSERT_TRUE(stream.Advance().ok());
  const Status status = stream.ForEachMember([](const std::string&) { return Status(); });
  EXPECT_TRUE(status.message().starts_with("the list: byte 5")) << status.message();
}

// Long strings of files are unescaped piece by piece, which must not cut an escape in two.
TEST(JsonStream, LongStringsOfFilesAreWhole) {
  std::string raw;
  std::string expected;
  for (int i = 0; i < 40'000; ++i) {
    raw += "\\u00e9\\\\\\\",";
    expected += "\xc3\xa9\\\",";
  }
  raw += std::string(200'000, 'x');  // no comma for more than a piece
  expected += std::string(200'000, 'x');
  const TemporaryFolder folder;
  WriteText(folder / "x.json", "[\"" + raw + "\"]");
  JsonStream stream(JsonText(*InputFile::Open(folder / "x.json")), "it");
  ASSERT_TRUE(stream.Advance().ok());
  ASSERT_TRUE(stream.Advance().ok());
  const auto text = stream.Text();
  ASSERT_TRUE(text.ok());
  EXPECT_TRUE(*text == expected);
}

// The pieces are joined up to a comma, here of 2 MiB, or up to the end.
TEST(JsonStream, StringsWithHardlyAnyCommaAreWhole) {
  constexpr size_t kPiece = size_t{64} << 10;
  constexpr std::string_view kEscape = "\\u00e9";
  // Every piece ends in the middle of an escape.
  std::string half(kPiece - kEscape.size() / 2, 'a');
  std::string expected_half = half;
  for (int i = 0; i < 32; ++i) {
    half += kEscape;
    half.append(kPiece - kEscape.size(), 'a');
    expected_half += "\xc3\xa9" + std::string(kPiece - kEscape.size(), 'a');
  }
  const TemporaryFolder folder;
  for (const std::string separator : {"", "b,b"}) {
    WriteText(folder / "x.json", "[\"" + half + separator + half + "\",7]");
    JsonStream stream(JsonText(*InputFile::Open(folder / "x.json")), "it");
    ASSERT_TRUE(stream.Advance().ok());
    ASSERT_TRUE(stream.Advance().ok());
    const auto text = stream.Text();
    ASSERT_TRUE(text.ok());
    EXPECT_TRUE(*text == expected_half + separator + expected_half) << separator;
    ASSERT_TRUE(stream.Advance().ok());
    EXPECT_EQ(stream.raw(), "7");
  }
}

}  // namespace
}  // namespace vernier
