#include "io/json/json_stream.h"

#include <algorithm>
#include <span>

namespace vernier {
namespace {

constexpr uint64_t kStreamBlock = uint64_t{64} << 10;

}  // namespace

Status JsonStream::Advance() {
  Result<JsonToken> token = reader_.Next();
  if (!token.ok()) return Status(token.status()).Annotate(what_);
  token_ = *token;
  return {};
}

Result<std::string> JsonStream::Text() const {
  if (!reader_.is_long()) return UnescapeJson(reader_.raw());
  std::string text;
  std::string block;
  text.reserve(static_cast<size_t>(reader_.end() - reader_.begin()));
  for (uint64_t position = reader_.begin(); position < reader_.end();) {
    const size_t before = block.size();
    const uint64_t step = std::min(kStreamBlock, reader_.end() - position);
    block.resize(before + static_cast<size_t>(step));
    VERNIER_TRY(text_.ReadAt(position, std::span(block).subspan(before)));
    position += step;
    // No escape has a comma in it. What was there before has none at all.
    const size_t comma = std::string_view(block).substr(before).rfind(',');
    const bool last = position == reader_.end();
    if (!last && comma == std::string_view::npos) continue;
    const size_t whole = last ? block.size() : before + comma + 1;
    text += UnescapeJson(std::string_view(block).substr(0, whole));
    block.erase(0, whole);
  }
  return text;
}

Status JsonStream::Skip() {
  for (size_t depth = 0;;) {
    if (is(JsonToken::kBeginObject) || is(JsonToken::kBeginArray)) ++depth;
    if (is(JsonToken::kEndObject) || is(JsonToken::kEndArray)) --depth;
    if (depth == 0) return {};
    VERNIER_TRY(Advance());
  }
}

Status JsonStream::ForEachMember(const std::function<Status(const std::string& key)>& use) {
  while (true) {
    VERNIER_TRY(Advance());
    if (is(JsonToken::kEndObject)) return {};
    VERNIER_ASSIGN_OR_RETURN(const std::string key, Text());
    VERNIER_TRY(Advance());
    VERNIER_TRY(use(key));
  }
}

Status JsonStream::ForEachElement(const std::function<Status()>& use) {
  while (true) {
    VERNIER_TRY(Advance());
    if (is(JsonToken::kEndArray)) return {};
    VERNIER_TRY(use());
  }
}

}  // namespace vernier
