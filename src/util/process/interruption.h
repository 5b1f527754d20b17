// The interrupt flag that a signal handler sets.
#pragma once

#include <atomic>

#include "vernier/status.h"

namespace vernier {

/// kCancelled once `interrupted` is the number of a signal.
inline Status CheckInterrupted(const std::atomic<int>& interrupted) {
  return interrupted.load() == 0 ? Status() : Cancelled("interrupted; no file was replaced");
}

}  // namespace vernier
