// Frames with file descriptors over a socket pair.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "util/files/unique_fd.h"
#include "vernier/status.h"

namespace vernier {

struct Frame {
  uint32_t type = 0;
  std::vector<std::byte> body;
  UniqueFd fd;  ///< at most one descriptor travels with a frame
};

/// Called whenever the other end is not ready; `events` are poll's. An error ends the wait.
using ChannelWait = std::function<Status(short events)>;

/// One end of a connection. Not thread-safe: one thread sends and receives.
class Channel {
 public:
  /// Two connected ends, close-on-exec. kInternal when the system refuses.
  static Result<std::pair<Channel, Channel>> CreatePair();

  explicit Channel(UniqueFd socket) : socket_(std::move(socket)) {}

  /// Sends a frame; `fd` (or -1) stays the caller's. kBackend when the other end is gone, or what
  /// `wait` returns; without `wait` it blocks.
  Status Send(uint32_t type, std::span<const std::byte> body, int fd = -1,
              const ChannelWait& wait = {});

  /// The next frame; nullopt when the other end has closed. kBackend for bytes that are no frame,
  /// or what `wait` returns; without `wait` it blocks.
  Result<std::optional<Frame>> Receive(const ChannelWait& wait = {});

  int descriptor() const { return socket_.get(); }

 private:
  UniqueFd socket_;
};

}  // namespace vernier
