// A line on a terminal for a person who waits for something that says nothing, such as a model that
// is opened, or an engine that is built.
#pragma once

#include <optional>

namespace vernier {

class WaitingLine {
 public:
  /// Goes to stderr, if it is `wanted` and that is a terminal.
  explicit WaitingLine(bool wanted);
  ~WaitingLine() { Show(std::nullopt); }
  WaitingLine(const WaitingLine&) = delete;
  WaitingLine& operator=(const WaitingLine&) = delete;

  /// To be called again and again: for how many seconds now, which is shown from the first second
  /// on, with a sign that turns; nothing takes the line away. What else is written to the terminal
  /// meanwhile is written over it.
  void Show(std::optional<double> seconds);

 private:
  bool wanted_;
  bool shown_ = false;
  int turn_ = 0;
};

}  // namespace vernier
