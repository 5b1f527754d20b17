// The program and the defaults for sessions that are started through the library.
#pragma once

#include <atomic>
#include <ctime>
#include <string>

#include "session/run/run_session.h"
#include "util/log/no_log.h"
#include "vernier/session.h"
#include "vernier/status.h"

namespace vernier {

/// Finds the program in whose processes frameworks run, as SessionOptions::program says. The first
/// call in a process decides for all. kUnavailable, saying how to name it.
Status ChooseProgram(const std::string& named);

/// A logger and a flag for a caller without. Outlives the contexts that it makes.
struct LibraryDefaults {
  NoLog silence;
  std::atomic<int> interrupted{0};

  SessionContext ContextOf(const SessionOptions& options) {
    SessionContext context{options.logger == nullptr ? silence : *options.logger,
                           options.interrupted == nullptr ? interrupted : *options.interrupted};
    context.origin = DescribeMachine(std::time(nullptr));
    context.events = options.events;
    return context;
  }
};

}  // namespace vernier
