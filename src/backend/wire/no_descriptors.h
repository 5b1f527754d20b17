// The message when the system has no file descriptors left.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include "vernier/status.h"

namespace vernier {

/// kInternal, with the reason that errno gives.
inline Status NoDescriptorsLeft() {
  return Internal(std::string("no descriptors left: ") + std::strerror(errno) +
                  "; `ulimit -n` shows how many a process may have");
}

}  // namespace vernier
