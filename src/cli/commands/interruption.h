// Ctrl-C and similar signals, for commands that have something to clean up.
#pragma once

#include <atomic>

#include "vernier/status.h"

namespace vernier {

/// From now on SIGINT, SIGTERM and SIGHUP only set the number returned here; a second one ends the
/// program at once.
const std::atomic<int>& WatchSignals();

/// The signal that came; 0 when none has.
int ReceivedSignal();

/// kCancelled once a signal has come.
Status CheckInterrupted();

}  // namespace vernier
