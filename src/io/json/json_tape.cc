#include "io/json/json_tape.h"

#include <algorithm>
#include <utility>

namespace vernier {
namespace {

using JsonKind = JsonValue::Kind;

// A place in the kept text: its offset and, in the low bits, its size, which is 1 MiB at most.
constexpr int kSizeBits = 24;
constexpr uint64_t kSizeMask = (uint64_t{1} << kSizeBits) - 1;

// Names that come back with every iteration are kept once.
constexpr size_t kWorthKnowing = 256;
constexpr size_t kMaxKnown = size_t{64} << 10;

JsonKind KindOf(JsonToken token) {
  switch (token) {
    case JsonToken::kBeginObject:
      return JsonKind::kObject;
    case JsonToken::kBeginArray:
      return JsonKind::kArray;
    case JsonToken::kNumber:
      return JsonKind::kNumber;
    case JsonToken::kTrue:
      return JsonKind::kTrue;
    case JsonToken::kFalse:
      return JsonKind::kFalse;
    case JsonToken::kNull:
      return JsonKind::kNull;
    default:
      return JsonKind::kString;
  }
}

bool IsContainer(JsonKind kind) { return kind == JsonKind::kObject || kind == JsonKind::kArray; }

bool SameText(std::string_view raw, std::string_view text) {
  if (raw.find('\\') == std::string_view::npos) return raw == text;
  return UnescapeJson(raw) == text;
}

}  // namespace

Result<JsonTape> JsonTape::Parse(std::string_view text) {
  return Read(JsonTape(JsonText(text)), JsonReader(text), {});
}

Result<JsonTape> JsonTape::Parse(JsonText text, PayloadLength payload_length, const JsonCut& cut) {
  JsonReader reader(text, std::move(payload_length));
  return Read(JsonTape(std::move(text)), std::move(reader), cut);
}

Result<JsonTape> JsonTape::Read(JsonTape tape, JsonReader reader, const JsonCut& cut) {
  const uint64_t max_nodes = (uint64_t{1} << 20) + tape.text_.size() / 8;
  std::vector<size_t> open;
  while (true) {
    VERNIER_ASSIGN_OR_RETURN(const JsonToken token, reader.Next());
    if (token == JsonToken::kEnd) break;
    if (token == JsonToken::kEndObject || token == JsonToken::kEndArray) {
      const size_t node = open.back();
      tape.nodes_[node].end = tape.nodes_.size();
      open.pop_back();
      if (token == JsonToken::kEndArray || !cut) continue;
      if (!cut(JsonValue(&tape, node), open.size())) continue;
      tape.nodes_.resize(node + 1);
      tape.nodes_[node].kind = static_cast<uint8_t>(JsonKind::kCut);
      tape.nodes_[node].end = reader.end();
      continue;
    }
    if (tape.nodes_.size() == max_nodes) {
      return Malformed("byte " + std::to_string(reader.begin()) +
                       ": too many small values for a file of saved tensors");
    }
    const JsonKind kind = reader.is_long() ? JsonKind::kLong : KindOf(token);
    if (IsContainer(kind)) open.push_back(tape.nodes_.size());
    tape.nodes_.push_back({static_cast<uint8_t>(kind), reader.begin() & ((uint64_t{1} << 56) - 1),
                           tape.EndFor(reader)});
  }
  tape.known_ = {};
  return tape;
}

uint64_t JsonTape::EndFor(const JsonReader& reader) {
  return text_.in_memory() || reader.is_long() ? reader.end() : Keep(reader.raw());
}

uint64_t JsonTape::Keep(std::string_view text) {
  const auto append = [&] {
    const uint64_t place = (uint64_t{kept_.size()} << kSizeBits) | text.size();
    kept_ += text;
    return place;
  };
  if (text.size() > kWorthKnowing) return append();
  std::string name(text);
  if (const auto found = known_.find(name); found != known_.end()) return found->second;
  const uint64_t place = append();
  if (known_.size() < kMaxKnown) known_.emplace(std::move(name), place);
  return place;
}

uint64_t JsonTape::TextEnd(const Node& node) const {
  const auto kind = static_cast<JsonKind>(node.kind);
  const bool by_offset = text_.in_memory() || kind == JsonKind::kLong || kind == JsonKind::kCut;
  return by_offset ? node.end : node.begin + (node.end & kSizeMask);
}

size_t JsonTape::AfterNode(size_t node) const {
  const Node& n = nodes_[node];
  return IsContainer(static_cast<JsonKind>(n.kind)) ? static_cast<size_t>(n.end) : node + 1;
}

JsonKind JsonValue::kind() const { return static_cast<JsonKind>(tape_->nodes_[node_].kind); }

uint64_t JsonValue::offset() const { return tape_->nodes_[node_].begin; }

std::string_view JsonValue::raw() const {
  const auto& node = tape_->nodes_[node_];
  if (IsContainer(kind()) || is(JsonKind::kLong) || is(JsonKind::kCut)) return {};
  if (!tape_->text_.in_memory()) {
    return std::string_view(tape_->kept_)
        .substr(static_cast<size_t>(node.end >> kSizeBits),
                static_cast<size_t>(node.end & kSizeMask));
  }
  // All of a text in memory is one window.
  const std::string_view text = tape_->text_.memory();
  return text.substr(static_cast<size_t>(node.begin), static_cast<size_t>(node.end - node.begin));
}

JsonRange JsonValue::Range() const {
  const auto& node = tape_->nodes_[node_];
  return {&tape_->text_, node.begin, tape_->TextEnd(node)};
}

std::optional<JsonValue> JsonValue::Find(std::string_view key) const {
  std::optional<JsonValue> found;
  if (!is(JsonKind::kObject)) return found;
  const size_t end = tape_->AfterNode(node_);
  for (size_t i = node_ + 1; i < end; i = tape_->AfterNode(i + 1)) {
    if (SameText(JsonValue(tape_, i).raw(), key)) found = JsonValue(tape_, i + 1);
  }
  return found;
}

void JsonValue::ForEachRawKey(const std::function<void(std::string_view)>& visit) const {
  if (!is(JsonKind::kObject)) return;
  const size_t end = tape_->AfterNode(node_);
  for (size_t i = node_ + 1; i < end; i = tape_->AfterNode(i + 1)) visit(JsonValue(tape_, i).raw());
}

std::vector<JsonValue::Member> JsonValue::Members() const {
  std::vector<Member> members;
  if (!is(JsonKind::kObject)) return members;
  std::unordered_map<std::string, size_t> places;
  const size_t end = tape_->AfterNode(node_);
  for (size_t i = node_ + 1; i < end; i = tape_->AfterNode(i + 1)) {
    std::string key = JsonValue(tape_, i).Text();
    const JsonValue value(tape_, i + 1);
    const auto [place, is_new] = places.emplace(key, members.size());
    if (is_new) {
      members.push_back({std::move(key), value});
    } else {
      members[place->second].value = value;
    }
  }
  return members;
}

std::vector<JsonValue> JsonValue::Elements() const {
  std::vector<JsonValue> elements;
  if (!is(JsonKind::kArray)) return elements;
  const size_t end = tape_->AfterNode(node_);
  for (size_t i = node_ + 1; i < end; i = tape_->AfterNode(i)) elements.emplace_back(tape_, i);
  return elements;
}

std::string_view JsonValue::KindName() const {
  constexpr std::string_view kNames[] = {"an object", "a list", "a string", "a number", "true",
                                         "false",     "null",   "a string", "an object"};
  return kNames[static_cast<size_t>(kind())];
}

}  // namespace vernier
