#include "io/json/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>

namespace vernier {
namespace {

template <typename Body>
std::string Written(Body body, JsonLayout layout = JsonLayout::kIndented) {
  StringSink sink;
  JsonWriter writer(sink, layout);
  body(writer);
  EXPECT_TRUE(writer.Finish().ok());
  return sink.text();
}

void SomeDocument(JsonWriter& w) {
  w.BeginObject();
  w.Key("a");
  w.BeginArray();
  w.Integer(-3);
  w.Null();
  w.BeginArray();
  w.EndArray();
  w.EndArray();
  w.Key("b");
  w.BeginObject();
  w.EndObject();
  w.Key("c");
  w.Bool(true);
  w.EndObject();
}

TEST(JsonWriter, IndentsAsPolygraphy) {
  EXPECT_EQ(Written(SomeDocument),
            "{\n    \"a\": [\n        -3,\n        null,\n        []\n    ],\n    \"b\": {},\n"
            "    \"c\": true\n}");
  EXPECT_EQ(Written(SomeDocument, JsonLayout::kCompact), R"({"a":[-3,null,[]],"b":{},"c":true})");
}

TEST(JsonWriter, EscapesAsPython) {
  const auto text = [](std::string_view s) { return Written([s](JsonWriter& w) { w.String(s); }); };
  EXPECT_EQ(text("a\"\\/\b\f\n\r\t\x01\x7f"), R"("a\"\\/\b\f\n\r\t\u0001\u007f")");
  EXPECT_EQ(text("\xc3\xa9\xf0\x9f\x98\x80\xe2\x80\xa8"), R"("\u00e9\ud83d\ude00\u2028")");
  EXPECT_EQ(text("\xff\xed\xa0\x80"), R"("\udcff\ud800")");
}

TEST(JsonWriter, WritesPythonsFloats) {
  const auto text = [](double x) { return Written([x](JsonWriter& w) { w.Double(x); }); };
  EXPECT_EQ(text(NAN), "NaN");
  EXPECT_EQ(text(-INFINITY), "-Infinity");
  EXPECT_EQ(text(0.00032329559326171875), "0.00032329559326171875");
  EXPECT_EQ(text(1e-5), "1e-05");
  EXPECT_EQ(text(1), "1.0");
}

class FullDisk final : public ByteSink {
 public:
  Status Write(std::span<const std::byte>) override {
    ++writes;
    return IoError("full");
  }
  int writes = 0;
};

TEST(JsonWriter, StopsAtTheFirstError) {
  FullDisk sink;
  JsonWriter writer(sink);
  writer.BeginArray();
  for (int i = 0; i < 100'000; ++i) writer.Integer(i);
  writer.EndArray();
  EXPECT_EQ(writer.Finish().message(), "full");
  EXPECT_EQ(sink.writes, 1);
}

}  // namespace
}  // namespace vernier
