// Escape codes of terminals: colours, cursor movements, titles.
#pragma once

#include <string>
#include <string_view>

namespace vernier {

/// Takes escape codes (ECMA-48: control sequences, strings such as titles, and short ones) out of a
/// text that comes in pieces, also where one is cut. Other control characters stay.
class EscapeFilter {
 public:
  std::string Strip(std::string_view piece);

 private:
  enum class State { kText, kEscape, kIntermediate, kSequence, kString, kStringEscape };

  State Next(unsigned char byte) const;

  State state_ = State::kText;
};

}  // namespace vernier
