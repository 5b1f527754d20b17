#include "io/json_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

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

struct RefusedText {
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
        RefusedText{"", "byte 0: expected a value, found the end"},
        RefusedText{"01", "byte 1: expected nothing after the value, found '1'"},
        RefusedText{".5", "byte 0: expected a value"},
        RefusedText{"1.", "byte 1: expected nothing"}, RefusedText{"1e", "byte 1"},
        RefusedText{"+1", "byte 0"}, RefusedText{"-", "byte 0"}, RefusedText{"-NaN", "byte 0"},
        RefusedText{"nan", "byte 0"}, RefusedText{"Infinit", "byte 0"},
        RefusedText{"[1,]", "byte 3: expected a value"}, RefusedText{"[1 2]", "byte 3"},
        RefusedText{"{\"a\":1,}", "byte 7: expected a name"}, RefusedText{"{\"a\" 1}", "byte 5"},
        RefusedText{"{1: 2}", "byte 1: expected a name"}, RefusedText{"[1}", "byte 2"},
        RefusedText{"\"a", "byte 0: the string that begins here never ends"},
        RefusedText{"\"\t\"", "byte 1: expected control characters"},
        RefusedText{"\"\\x\"", "byte 1: expected a valid escape"},
        RefusedText{"\"\\u12g4\"", "byte 1: expected four hexadecimal"},
        RefusedText{"\"\xff\"", "byte 1: expected valid UTF-8, found byte 0xff"},
        RefusedText{"\"\xed\xa0\x80\"", "byte 1: expected valid UTF-8"},
        RefusedText{"\xef\xbb\xbf{}", "byte 0"}, RefusedText{"{} x", "byte 3"},
        RefusedText{"'a'", "byte 0"}, RefusedText{"tru", "byte 0"}, RefusedText{"[", "byte 1"}));

TEST(JsonReader, FindsSpecialCharactersAnywhereInLongStrings) {
  for (size_t position = 0; position < 200; ++position) {
    std::string text = "\"" + std::string(200, 'x') + "\"";
    text[1 + position] = '\x01';
    EXPECT_NE(Refusal(text).find("byte " + std::to_string(1 + position) + ":"), std::string::npos);
    text[1 + position] = '"';
    EXPECT_EQ(Refusal(text).find("byte " + std::to_string(2 + position) + ":"), 0u);
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
