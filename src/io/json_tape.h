// The structure of a JSON document in 16 bytes a value, so that parts of it can be decoded later
// and in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/json_reader.h"
#include "vernier/status.h"

namespace vernier {

class JsonTape;

/// One value of a tape. Cheap to copy; valid as long as the tape.
class JsonValue {
 public:
  enum class Kind : uint8_t { kObject, kArray, kString, kNumber, kTrue, kFalse, kNull };

  JsonValue(const JsonTape* tape, size_t node) : tape_(tape), node_(node) {}

  Kind kind() const;
  bool is(Kind kind) const { return this->kind() == kind; }

  /// Offset of the value in the document; of a string, that of the first character inside.
  uint64_t offset() const;

  /// Offset behind the last string, number or literal of the value.
  uint64_t EndOffset() const;

  /// The raw text of a string (inside the quotes), number or literal; empty for containers.
  std::string_view raw() const;
  std::string Text() const { return UnescapeJson(raw()); }

  /// The value of an object's key; with duplicate keys the last one. nullopt when there is none or
  /// the value is no object.
  std::optional<JsonValue> Find(std::string_view key) const;

  /// Calls `visit` with every key of an object as it stands in the text.
  void ForEachRawKey(const std::function<void(std::string_view)>& visit) const;

  struct Member;
  /// An object's members with Python's rule for duplicates: the place of the first, the value of
  /// the last. Empty for other kinds.
  std::vector<Member> Members() const;

  /// An array's elements; empty for other kinds.
  std::vector<JsonValue> Elements() const;

  /// "an object", "a number", ...
  std::string_view KindName() const;

 private:
  const JsonTape* tape_;
  size_t node_;
};

struct JsonValue::Member {
  std::string key;
  JsonValue value;
};

/// The values of a document in its order.
class JsonTape {
 public:
  /// Called now and then with the number of bytes that will not be looked at again in this pass.
  using Progress = std::function<void(uint64_t)>;

  /// Checks all of `text`, which must outlive the tape. kMalformed, with the offset, for what
  /// JsonReader refuses and for documents with more than one value in eight bytes (beyond the first
  /// million), which no file of ours has and whose tape would outgrow them.
  static Result<JsonTape> Parse(std::string_view text, const Progress& progress = {});

  JsonValue root() const { return {this, 0}; }

 private:
  friend class JsonValue;

  struct Node {
    uint64_t kind : 8;
    uint64_t begin : 56;
    uint64_t end;  // strings, numbers: offset behind the last character; containers: next node
  };

  size_t AfterNode(size_t node) const;

  std::string_view text_;
  std::vector<Node> nodes_;
};

}  // namespace vernier
