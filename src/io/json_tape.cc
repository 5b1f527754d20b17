#include "io/json_tape.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace vernier {
namespace {

using Kind = JsonValue::Kind;

constexpr uint64_t kReportEvery = uint64_t{32} << 20;

Kind KindOf(JsonToken token) {
  switch (token) {
    case JsonToken::kBeginObject:
      return Kind::kObject;
    case JsonToken::kBeginArray:
      return Kind::kArray;
    case JsonToken::kNumber:
      return Kind::kNumber;
    case JsonToken::kTrue:
      return Kind::kTrue;
    case JsonToken::kFalse:
      return Kind::kFalse;
    case JsonToken::kNull:
      return Kind::kNull;
    default:
      return Kind::kString;
  }
}

bool IsContainer(Kind kind) { return kind == Kind::kObject || kind == Kind::kArray; }

bool SameText(std::string_view raw, std::string_view text) {
  if (raw.find('\\') == std::string_view::npos) return raw == text;
  return UnescapeJson(raw) == text;
}

}  // namespace

Result<JsonTape> JsonTape::Parse(std::string_view text, const Progress& progress) {
  const size_t max_nodes = (size_t{1} << 20) + text.size() / 8;
  JsonTape tape;
  tape.text_ = text;
  JsonReader reader(text);
  std::vector<size_t> open;
  uint64_t reported = 0;
  while (true) {
    VERNIER_ASSIGN_OR_RETURN(const JsonToken token, reader.Next());
    if (token == JsonToken::kEnd) return tape;
    if (token == JsonToken::kEndObject || token == JsonToken::kEndArray) {
      tape.nodes_[open.back()].end = tape.nodes_.size();
      open.pop_back();
      continue;
    }
    if (tape.nodes_.size() == max_nodes) {
      return Malformed("byte " + std::to_string(reader.offset()) +
                       ": too many small values for a file of saved tensors");
    }
    const uint64_t begin = reader.offset();
    const uint64_t end = begin + reader.raw().size();
    const Kind kind = KindOf(token);
    if (IsContainer(kind)) open.push_back(tape.nodes_.size());
    tape.nodes_.push_back({static_cast<uint8_t>(kind), begin & ((uint64_t{1} << 56) - 1), end});
    if (progress && end - reported >= kReportEvery) progress(reported = end);
  }
}

size_t JsonTape::AfterNode(size_t node) const {
  const Node& n = nodes_[node];
  return IsContainer(static_cast<Kind>(n.kind)) ? static_cast<size_t>(n.end) : node + 1;
}

Kind JsonValue::kind() const { return static_cast<Kind>(tape_->nodes_[node_].kind); }

uint64_t JsonValue::offset() const { return tape_->nodes_[node_].begin; }

uint64_t JsonValue::EndOffset() const {
  const size_t last = tape_->AfterNode(node_) - 1;
  const auto& node = tape_->nodes_[last];
  return IsContainer(static_cast<Kind>(node.kind)) ? node.begin + 1 : node.end;
}

std::string_view JsonValue::raw() const {
  if (IsContainer(kind())) return {};
  const auto& node = tape_->nodes_[node_];
  return tape_->text_.substr(static_cast<size_t>(node.begin),
                             static_cast<size_t>(node.end - node.begin));
}

std::optional<JsonValue> JsonValue::Find(std::string_view key) const {
  std::optional<JsonValue> found;
  if (!is(Kind::kObject)) return found;
  const size_t end = tape_->AfterNode(node_);
  for (size_t i = node_ + 1; i < end; i = tape_->AfterNode(i + 1)) {
    if (SameText(JsonValue(tape_, i).raw(), key)) found = JsonValue(tape_, i + 1);
  }
  return found;
}

void JsonValue::ForEachRawKey(const std::function<void(std::string_view)>& visit) const {
  if (!is(Kind::kObject)) return;
  const size_t end = tape_->AfterNode(node_);
  for (size_t i = node_ + 1; i < end; i = tape_->AfterNode(i + 1)) visit(JsonValue(tape_, i).raw());
}

std::vector<JsonValue::Member> JsonValue::Members() const {
  std::vector<Member> members;
  if (!is(Kind::kObject)) return members;
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
  if (!is(Kind::kArray)) return elements;
  const size_t end = tape_->AfterNode(node_);
  for (size_t i = node_ + 1; i < end; i = tape_->AfterNode(i)) elements.emplace_back(tape_, i);
  return elements;
}

std::string_view JsonValue::KindName() const {
  constexpr std::string_view kNames[] = {"an object", "a list", "a string", "a number",
                                         "true",      "false",  "null"};
  return kNames[static_cast<size_t>(kind())];
}

}  // namespace vernier
