// The structure of a JSON document in 16 bytes a value, so that parts of it can be decoded later
// and in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "io/json/json_reader.h"
#include "io/json/json_text.h"
#include "vernier/status.h"

namespace vernier {

class JsonTape;

/// Some of the text of a document.
struct JsonRange {
  const JsonText* text = nullptr;
  uint64_t begin = 0;
  uint64_t end = 0;

  uint64_t size() const { return end - begin; }
};

/// One value of a tape. Cheap to copy; valid as long as the tape.
class JsonValue {
 public:
  /// kLong: a string in a file whose text is not kept, see JsonReader::is_long. kCut: an object of
  /// which nothing is kept but where it stands, see JsonCut.
  enum class Kind : uint8_t {
    kObject,
    kArray,
    kString,
    kNumber,
    kTrue,
    kFalse,
    kNull,
    kLong,
    kCut
  };

  JsonValue(const JsonTape* tape, size_t node) : tape_(tape), node_(node) {}

  Kind kind() const;
  bool is(Kind kind) const { return this->kind() == kind; }

  /// Offset of the value in the document; of a string, that of the first character inside.
  uint64_t offset() const;

  /// The raw text of a string (inside the quotes), number or literal; empty for containers and
  /// long strings.
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

  /// Whether it is a string, long or not.
  bool IsText() const { return is(Kind::kString) || is(Kind::kLong); }

  /// Where the raw text of a string, or all of a cut object is.
  JsonRange Range() const;

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

/// Whether what is inside an object needs not be kept. It has just ended; `depth` counts the
/// containers around it.
using JsonCut = std::function<bool(JsonValue object, size_t depth)>;

/// The values of a document in its order. Of a file the names and short texts are kept, equal ones
/// once.
class JsonTape {
 public:
  /// Checks all of `text`, which must outlive the tape. kMalformed, with the offset, for what
  /// JsonReader refuses and for documents with more than one value in eight bytes (beyond the first
  /// million), which no file of ours has and whose tape would outgrow them.
  static Result<JsonTape> Parse(std::string_view text);

  /// The same for a file, whose payloads are skipped where their length is known.
  static Result<JsonTape> Parse(JsonText text, PayloadLength payload_length,
                                const JsonCut& cut = {});

  JsonValue root() const { return {this, 0}; }

 private:
  friend class JsonValue;

  struct Node {
    uint64_t kind : 8;
    uint64_t begin : 56;
    // Containers: the node behind them. Long strings and all values of a text in memory: the offset
    // behind the last character. Other values: where their text is kept, and its size.
    uint64_t end;
  };

  explicit JsonTape(JsonText text) : text_(std::move(text)) {}
  static Result<JsonTape> Read(JsonTape tape, JsonReader reader, const JsonCut& cut);
  uint64_t EndFor(const JsonReader& reader);
  uint64_t Keep(std::string_view text);
  size_t AfterNode(size_t node) const;
  uint64_t TextEnd(const Node& node) const;

  JsonText text_;
  std::vector<Node> nodes_;
  std::string kept_;
  std::unordered_map<std::string, uint64_t> known_;  // what is in kept_, up to a limit
};

}  // namespace vernier
