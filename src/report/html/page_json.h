// JSON for the page's script, without what goes without saying.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_sink.h"
#include "io/json_writer.h"
#include "util/number_text.h"

namespace vernier {

// A JsonWriter that leaves out what goes without saying.
class PageJson {
 public:
  explicit PageJson(ByteSink& sink) : json_(sink, JsonLayout::kCompact) {}

  JsonWriter& json() { return json_; }

  void Text(const char* key, std::string_view text) {
    if (text.empty()) return;
    json_.Key(key);
    json_.String(text);
  }
  void Integer(const char* key, int64_t value) {
    if (value == 0) return;
    json_.Key(key);
    json_.Integer(value);
  }
  void Flag(const char* key, bool value) {
    if (!value) return;
    json_.Key(key);
    json_.Bool(true);
  }
  void Number(const char* key, double value, int digits = kDigits) {
    if (value != 0) Number(key, std::optional<double>(value), digits);
  }
  /// Zero is written: it is not the same as not known.
  void Number(const char* key, const std::optional<double>& value, int digits = kDigits) {
    if (!value) return;
    json_.Key(key);
    NumberValue(*value, digits);
  }
  void NumberValue(double value, int digits = kDigits) {
    if (!std::isfinite(value)) return json_.String(FormatG(value, 1));
    json_.Fail(json_.BeginRaw().WriteText(FormatG(value, digits)));
  }
  void Texts(const char* key, const std::vector<std::string>& texts) {
    if (texts.empty()) return;
    json_.Key(key);
    json_.BeginArray();
    for (const std::string& text : texts) json_.String(text);
    json_.EndArray();
  }
  void Integers(const char* key, const std::vector<int64_t>& values) {
    json_.Key(key);
    IntegerList(values);
  }
  void IntegerList(const std::vector<int64_t>& values) {
    json_.BeginArray();
    for (const int64_t value : values) json_.Integer(value);
    json_.EndArray();
  }
  /// A list of objects; `write` fills each.
  template <typename Items, typename Write>
  void Objects(const char* key, const Items& items, Write write) {
    if (items.empty()) return;
    json_.Key(key);
    json_.BeginArray();
    for (const auto& item : items) {
      json_.BeginObject();
      write(item);
      json_.EndObject();
    }
    json_.EndArray();
  }
  void BeginObject(const char* key) {
    json_.Key(key);
    json_.BeginObject();
  }
  void EndObject() { json_.EndObject(); }

  /// Of most numbers; the page shows four.
  static constexpr int kDigits = 6;

 private:
  JsonWriter json_;
};

}  // namespace vernier
