#include "report/text/waiting_line.h"

#include <unistd.h>

#include <cstdio>
#include <string_view>

namespace vernier {

WaitingLine::WaitingLine(bool wanted) : wanted_(wanted && ::isatty(STDERR_FILENO) == 1) {}

void WaitingLine::Show(std::optional<double> seconds) {
  constexpr double kPatienceSeconds = 1;
  constexpr std::string_view kSigns = "|/-\\";
  if (!wanted_) return;
  if (seconds && *seconds >= kPatienceSeconds) {
    // The cursor goes back: the next line of the log begins there.
    const char sign = kSigns[static_cast<size_t>(turn_++) % kSigns.size()];
    std::fprintf(stderr, "\r\033[K%c opening, %.0f s\r", sign, *seconds);
    shown_ = true;
  } else if (shown_) {
    std::fputs("\r\033[K", stderr);
    shown_ = false;
  }
  std::fflush(stderr);
}

}  // namespace vernier
