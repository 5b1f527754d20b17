// A JSON document whose values are read once, in their order.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "io/json/json_reader.h"
#include "io/json/json_text.h"
#include "vernier/status.h"

namespace vernier {

/// Stands at one token; earlier ones are not kept. A function that gets a stream at the first token
/// of a value leaves it at the last one. Errors are JsonReader's, after the name of the text.
class JsonStream {
 public:
  JsonStream(const JsonText& text, std::string what)
      : text_(text), reader_(text), what_(std::move(what)) {}

  /// To the next token: to the first one at first.
  Status Advance();

  JsonToken token() const { return token_; }
  bool is(JsonToken token) const { return token_ == token; }

  /// As JsonReader has it.
  std::string_view raw() const { return reader_.raw(); }

  /// What a key or a string says, however long it is.
  Result<std::string> Text() const;

  /// Over a value of any kind.
  Status Skip();

  /// Of an object: `use` is called with each key, and the stream at its value.
  Status ForEachMember(const std::function<Status(const std::string& key)>& use);

  /// Of an array: `use` is called with the stream at each element.
  Status ForEachElement(const std::function<Status()>& use);

 private:
  JsonText text_;
  JsonReader reader_;
  std::string what_;
  JsonToken token_ = JsonToken::kEnd;
};

}  // namespace vernier
