#include "io/json/json_tape.h"

#include <gtest/gtest.h>

#include "io/results/io_test_data.h"

namespace vernier {
namespace {

TEST(JsonTape, LastDuplicateWinsInTheFirstsPlace) {
  const auto tape = JsonTape::Parse(R"({"a": {"x": [1, 2]}, "b": 2, "\u0061": "new", "b": 3})");
  const auto members = tape->root().Members();
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(members[0].key, "a");
  EXPECT_EQ(members[0].value.Text(), "new");
  EXPECT_EQ(members[1].value.raw(), "3");
  EXPECT_EQ(tape->root().Find("a")->Text(), "new");
  EXPECT_FALSE(tape->root().Find("x"));
}

TEST(JsonTape, ElementsSkipWhatIsInside) {
  const auto tape = JsonTape::Parse(R"([[1, [2]], {"k": [3]}, "s", null])");
  const auto elements = tape->root().Elements();
  ASSERT_EQ(elements.size(), 4u);
  EXPECT_EQ(elements[1].Find("k")->Elements()[0].raw(), "3");
  EXPECT_EQ(elements[2].raw(), "s");
  EXPECT_EQ(elements[2].offset(), 24u);
  EXPECT_TRUE(elements[3].Elements().empty());
  EXPECT_TRUE(elements[3].Members().empty());
}

TEST(JsonTape, WhatIsCutCanBeParsedAgainWhereItStands) {
  const TemporaryFolder folder;
  const std::string text = R"([{"a": {"x": 1}}, {"keep": [2]}, {"a": {"x": [3, "y"]}}, 4])";
  WriteText(folder / "x.json", text);
  const auto cut = [](JsonValue object, size_t depth) {
    return depth == 1 && object.Find("a").has_value();
  };
  const JsonText whole(*InputFile::Open(folder / "x.json"));
  const auto tape = JsonTape::Parse(whole, {}, cut);
  ASSERT_TRUE(tape.ok());
  const auto elements = tape->root().Elements();
  ASSERT_EQ(elements.size(), 4u);
  EXPECT_TRUE(elements[0].is(JsonValue::Kind::kCut));
  EXPECT_FALSE(elements[0].Find("a"));
  EXPECT_EQ(elements[1].Find("keep")->Elements()[0].raw(), "2");
  EXPECT_EQ(elements[3].raw(), "4");
  const JsonRange range = elements[2].Range();
  EXPECT_EQ(text.substr(range.begin, range.size()), R"({"a": {"x": [3, "y"]}})");
  const auto again = JsonTape::Parse(range.text->Part(range.begin, range.end), {});
  ASSERT_TRUE(again.ok()) << again.status().message();
  const auto y = again->root().Find("a")->Find("x")->Elements()[1];
  EXPECT_EQ(y.Text(), "y");
  EXPECT_EQ(y.offset(), text.find("y\""));
}

TEST(JsonTape, RefusesFloodsOfSmallValues) {
  std::string text = "[0";
  for (int i = 0; i < 2'000'000; ++i) text += ",0";
  const auto tape = JsonTape::Parse(text + "]");
  ASSERT_FALSE(tape.ok());
  EXPECT_NE(tape.status().message().find("too many small values"), std::string::npos);
}

}  // namespace
}  // namespace vernier
