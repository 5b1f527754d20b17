// A streaming writer in the layout of Python's json.dumps(indent=4), which Polygraphy's files have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/bytes/byte_sink.h"
#include "vernier/status.h"

namespace vernier {

enum class JsonLayout : uint8_t {
  kIndented,  ///< Polygraphy's
  kCompact,   ///< on one line, no blanks
};

/// Writes one value. Text is collected in blocks of 64 KiB; the first error of the sink is kept and
/// returned by Finish(), and nothing is written after it. The calls must form valid JSON: a key
/// before each value in an object, every Begin ended.
class JsonWriter {
 public:
  /// `outer_levels` is the depth at which the value will stand: its inner lines are indented by
  /// four blanks for each.
  explicit JsonWriter(ByteSink& sink, int outer_levels = 0)
      : sink_(sink), outer_levels_(static_cast<size_t>(outer_levels)) {}
  JsonWriter(ByteSink& sink, JsonLayout layout) : sink_(sink), layout_(layout) {}

  void BeginObject() { Begin('{'); }
  void EndObject() { End('}'); }
  void BeginArray() { Begin('['); }
  void EndArray() { End(']'); }
  void Key(std::string_view name);

  void String(std::string_view text);  ///< UTF-8; what is not is kept by io/text_encoding.h
  void Double(double value);           ///< Python's repr; NaN, Infinity, -Infinity
  void Integer(int64_t value);
  void Bool(bool value);
  void Null();

  /// A value whose JSON text the caller writes to sink() until the next call here.
  ByteSink& BeginRaw();

  /// Keeps an error that occurred while writing raw text.
  void Fail(Status status);

  /// Writes what is left; may be called more than once. The first error, kIo for files.
  Status Finish();

 private:
  void Begin(char bracket);
  void End(char bracket);
  void BeforeValue();
  void NewLine();
  void Put(std::string_view text);
  void Quoted(std::string_view text);
  void Flush();

  ByteSink& sink_;
  size_t outer_levels_ = 0;
  JsonLayout layout_ = JsonLayout::kIndented;
  std::string buffer_;
  std::vector<bool> empty_;  // one for each open container
  bool after_key_ = false;
  Status status_;
};

}  // namespace vernier
