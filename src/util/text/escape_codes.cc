#include "util/text/escape_codes.h"

namespace vernier {
namespace {

constexpr unsigned char kEscapeByte = 0x1B, kBell = 0x07;

// The byte after ESC that begins a string, which lasts until BEL or ESC \.
bool BeginsString(unsigned char byte) {
  return std::string_view("]PX^_").find(static_cast<char>(byte)) != std::string_view::npos;
}

}  // namespace

// What cannot be part of a code ends it, so that no text is lost behind a broken one.
EscapeFilter::State EscapeFilter::Next(unsigned char byte) const {
  if (byte == kEscapeByte) {
    return state_ == State::kString ? State::kStringEscape : State::kEscape;
  }
  const bool is_control = byte < 0x20;
  switch (state_) {
    case State::kText:
      return State::kText;
    case State::kEscape:
    case State::kStringEscape:
      if (byte == '[') return State::kSequence;
      if (BeginsString(byte)) return State::kString;
      return byte >= 0x20 && byte < 0x30 ? State::kIntermediate : State::kText;
    case State::kIntermediate:
      return byte >= 0x20 && byte < 0x30 ? State::kIntermediate : State::kText;
    case State::kSequence:
      return !is_control && byte < 0x40 ? State::kSequence : State::kText;
    case State::kString:
      return byte == kBell || byte == '\n' ? State::kText : State::kString;
  }
  return State::kText;
}

std::string EscapeFilter::Strip(std::string_view piece) {
  std::string text;
  for (const char c : piece) {
    const auto byte = static_cast<unsigned char>(c);
    const State before = state_;
    state_ = Next(byte);
    const bool ends_broken = before != State::kText && (byte == '\n' || byte == '\r');
    if (before == State::kText ? state_ == State::kText : ends_broken) text += c;
  }
  return text;
}

}  // namespace vernier
