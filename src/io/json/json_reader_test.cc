#include "io/json/json_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "io/results/io_test_data.h"

namespace vernier {
namespace {

// "" when the document is accepted, else the message.
std::string Refusal(std::string_view text) {
  JsonReader reader(text);
  while (true) {
    const Result<JsonToken> token = reader.Next();
    if (!token.ok()) return token.status().message();
    if (*token == JsonToken::kEnd) return "";
  }
}

TEST(JsonReader, AcceptsWhatPythonAccepts) {
  for (const char* text :
       {"0", "-0", "1E5", "-1.5e-3", "NaN", "-Infinity", "Infinity", "\"\"", " [ ] ", "{}", "[[]]",
        "{\"a\": 1, \"a\": 2}", "\"\\ud800\"", "\"\\u00e9\\n\\/\"", "\"\x7f\"", "\"\xc3\xa9\"",
        "[true, false, null]", "\r\n\t 1 \n"}) {
    EXPECT_EQ(Refusal(text), "") << text;
  }
}

TEST(JsonReader, OtherEncodingsThanUtf8AreNamed) {
  using std::string_literals::operator""s;
  EXPECT_EQ(Refusal("\xef\xbb\xbf{\"a\": 1}"), "");
  for (const std::string& text : {"\xff\xfe{\0}\0"s, "\xfe\xff\0{\0}"s, "{\0}\0"s, "\0{\0}"s}) {
    EXPECT_EQ(Refusal(text), "byte 0: the text is UTF-16, and JSON is UTF-8: save it as that");
  }
  for (const std::string& text : {"\xff\xfe\0\0{\0\0\0"s, "{\0\0\0}\0\0\0"s, "\0\0\0{\0\0\0}"s}) {
    EXPECT_EQ(Refusal(text), "byte 0: the text is UTF-32, and JSON is UTF-8: save it as that");
  }
  for (const std::string& text : {"{}\0"s, std::string(8, '\0')}) {
    EXPECT_EQ(Refusal(text).find("UTF"), std::string::npos) << Refusal(text);
  }
}

struct RefusedText {
  const char* name;
  const char* text;
  const char* message;
};

class RefusedJson : public testing::TestWithParam<RefusedText> {};

TEST_P(RefusedJson, SaysWhereAndWhy) {
  EXPECT_NE(Refusal(GetParam().text).find(GetParam().message), std::string::npos)
      << GetParam().text << ": " << Refusal(GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Table, RefusedJson,
    testing::Values(
        RefusedText{"Nothing", "", "byte 0: expected a value, found the end"},
        RefusedText{"LeadingZero", "01", "byte 1: expected nothing after the value, found '1'"},
        RefusedText{"NoDigitBeforeThePoint", ".5", "byte 0: expected a value"},
        RefusedText{"NoDigitBehindThePoint", "1.", "byte 1: expected nothing"},
        RefusedText{"NoExponent", "1e", "byte 1"}, RefusedText{"Plus", "+1", "byte 0"},
        RefusedText{"Minus", "-", "byte 0"}, RefusedText{"MinusNan", "-NaN", "byte 0"},
        RefusedText{"LowerCaseNan", "nan", "byte 0"},
        RefusedText{"CutInfinity", "Infinit", "byte 0"},
        RefusedText{"CommaAtTheEndOfAList", "[1,]", "byte 3: expected a value"},
        RefusedText{"NoComma", "[1 2]", "byte 3"},
        RefusedText{"CommaAtTheEndOfAnObject", "{\"a\":1,}", "byte 7: expected a name"},
        RefusedText{"NoColon", "{\"a\" 1}", "byte 5"},
        RefusedText{"NumberAsAName", "{1: 2}", "byte 1: expected a name"},
        RefusedText{"WrongBracket", "[1}", "byte 2"},
        RefusedText{"StringWithoutEnd", "\"a", "byte 0: the string that begins here never ends"},
        RefusedText{"TabInAString", "\"\t\"", "byte 1: expected control characters"},
        RefusedText{"UnknownEscape", "\"\\x\"", "byte 1: expected a valid escape"},
        RefusedText{"BadHexadecimal", "\"\\u12g4\"", "byte 1: expected four hexadecimal"},
        RefusedText{"BadByte", "\"\xff\"", "byte 1: expected valid UTF-8, found byte 0xff"},
        RefusedText{"SurrogateAsUtf8", "\"\xed\xa0\x80\"", "byte 1: expected valid UTF-8"},
        RefusedText{"SecondValue", "{} x", "byte 3"}, RefusedText{"SingleQuotes", "'a'", "byte 0"},
        RefusedText{"CutTrue", "tru", "byte 0"}, RefusedText{"OpenList", "[", "byte 1"}),
    [](const auto& info) { return info.param.name; });

TEST(JsonReader, FindsSpecialCharactersAnywhereInLongStrings) {
  for (size_t position = 0; position < 200; ++position) {
    std::string text = "\"" + std::string(200, 'x') + "\"";
    text[1 + position] = '\x01';
    EXPECT_NE(Refusal(text).find("byte " + std::to_string(1 + position) + ":"), std::string::npos);
    text[1 + position] = '"';
    EXPECT_EQ(Refusal(text).find("byte " + std::to_string(2 + position) + ":"), 0u);
  }
}

// Files are seen through a window, whose ends fall on every place of a token in turn.
TEST(JsonReader, FilesAreReadAsTextsInMemory) {
  const TemporaryFolder folder;
  const std::string texts[] = {
      R"({"k\u00e9": [-1.5e-3, "v\n", true, null, -Infinity, {"array": "no payload"}]})",
      "[\"\xc3\xa9\", 01]",
      "[\"\\x\"]",
      "[1.]",
      "{\"a\" 1}",
      "[\"\xff\"]",
      "[fals]",
      "[\"" + std::string(70'000, 'x') + "\", 12",
      "[\"never ends"};
  for (const std::string& text : texts) {
    for (size_t blanks = 4070; blanks < 4100; ++blanks) {
      const std::string shifted = std::string(blanks, ' ') + text;
      WriteText(folder / "x.json", shifted);
      JsonReader file(JsonText(*InputFile::Open(folder / "x.json")));
      JsonReader memory(shifted);
      while (true) {
        const auto expected = memory.Next();
        const auto token = file.Next();
        ASSERT_EQ(token.ok(), expected.ok()) << text.substr(0, 40) << " " << blanks;
        if (!token.ok()) {
          EXPECT_EQ(token.status().message(), expected.status().message());
          break;
        }
        ASSERT_EQ(*token, *expected);
        EXPECT_EQ(file.begin(), memory.begin());
        EXPECT_EQ(file.end(), memory.end());
        if (!file.is_long()) {
          EXPECT_EQ(file.raw(), memory.raw());
        }
        if (*token == JsonToken::kEnd) break;
      }
    }
  }
}

TEST(JsonReader, OfLongStringsInFilesThePlaceIsGiven) {
  const TemporaryFolder folder;
  WriteText(folder / "x.json", "[\"" + std::string(70'000, 'x') + "\", {\"array\": \"ab\"}]");
  JsonReader reader(JsonText(*InputFile::Open(folder / "x.json")));
  EXPECT_EQ(*reader.Next(), JsonToken::kBeginArray);
  EXPECT_EQ(*reader.Next(), JsonToken::kString);
  EXPECT_TRUE(reader.is_long());
  EXPECT_EQ(reader.end() - reader.begin(), 70'000u);
  EXPECT_EQ(*reader.Next(), JsonToken::kBeginObject);
  EXPECT_EQ(*reader.Next(), JsonToken::kKey);
  EXPECT_FALSE(reader.is_long());
  EXPECT_EQ(*reader.Next(), JsonToken::kString);
  EXPECT_TRUE(reader.is_long());
}

TEST(JsonReader, PayloadsAreSkippedOnlyWhereTheyEnd) {
  const TemporaryFolder folder;
  const std::string start = R"({"array": ")";
  const std::string payload(200, 'A');
  for (const size_t claimed : {size_t{199}, size_t{200}, size_t{201}, size_t{1} << 60}) {
    WriteText(folder / "x.json", start + payload + "\", \"b\": \"c\"}");
    JsonReader reader(JsonText(*InputFile::Open(folder / "x.json")),
                      [&](std::string_view) { return std::optional<uint64_t>(claimed); });
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(reader.Next().ok());
    EXPECT_EQ(reader.begin(), start.size());
    EXPECT_EQ(reader.end(), start.size() + payload.size()) << claimed;
    EXPECT_EQ(*reader.Next(), JsonToken::kKey);
    EXPECT_EQ(reader.raw(), "b");
  }
}

TEST(JsonReader, LimitsDepth) {
  EXPECT_EQ(Refusal(std::string(512, '[') + std::string(512, ']')), "");
  EXPECT_NE(Refusal(std::string(100'000, '[')).find("byte 512: expected at most 512 nested"),
            std::string::npos);
}

TEST(JsonReader, LimitsIntegersAsPython) {
  EXPECT_EQ(Refusal(std::string(4300, '9')), "");
  EXPECT_NE(Refusal(std::string(4301, '9')), "");
  EXPECT_EQ(Refusal(std::string(5000, '9') + "e0"), "");
}

TEST(JsonReader, HandsOutTokensAsTheyStand) {
  JsonReader reader("{\"k\\n\": [-1.5, \"v\"]}");
  const std::pair<JsonToken, std::string> expected[] = {
      {JsonToken::kBeginObject, "{"}, {JsonToken::kKey, "k\\n"}, {JsonToken::kBeginArray, "["},
      {JsonToken::kNumber, "-1.5"},   {JsonToken::kString, "v"}, {JsonToken::kEndArray, "]"},
      {JsonToken::kEndObject, "}"},   {JsonToken::kEnd, ""},     {JsonToken::kEnd, ""}};
  for (const auto& [token, raw] : expected) {
    EXPECT_EQ(*reader.Next(), token);
    EXPECT_EQ(reader.raw(), raw);
  }
}

TEST(UnescapeJson, JoinsSurrogatesAndKeepsLoneOnes) {
  EXPECT_EQ(UnescapeJson("a\\u00e9\\ud83d\\ude00\\n\\/"), "a\xc3\xa9\xf0\x9f\x98\x80\n/");
  EXPECT_EQ(UnescapeJson("\\ud83dx"), "\xed\xa0\xbdx");
  EXPECT_EQ(UnescapeJson("\\ud83d\\u0041"),
            "\xed\xa0\xbd"
            "A");
  EXPECT_EQ(UnescapeJson("\\udc80"), "\x80");
}

TEST(JsonNumberValue, IsPythonsFloat) {
  EXPECT_EQ(JsonNumberValue("1e999"), INFINITY);
  EXPECT_EQ(JsonNumberValue("-Infinity"), -INFINITY);
  EXPECT_TRUE(std::isnan(JsonNumberValue("NaN")));
  EXPECT_EQ(JsonNumberValue("18446744073709551616"), 18446744073709551616.0);
}

}  // namespace
}  // namespace vernier
