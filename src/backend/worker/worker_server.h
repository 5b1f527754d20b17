// The worker's side of the protocol: loads one plug-in and serves its sessions.
#pragma once

#include <span>
#include <string>

#include "backend/wire/channel.h"

namespace vernier {

/// Serves requests until the parent closes the channel. Returns the process's exit status.
int ServeWorker(Channel channel);

/// The body of `vernier worker`: what must be set up in a process of its own before serving on
/// descriptor `fd`: it dies with the process `parent` and leaves no core file.
int RunWorkerProcess(int fd, int parent);

/// The same for a worker that is another program: this process becomes it, with `fd` added to its
/// arguments. Returns only when that fails: the process's exit status.
int BecomeWorkerProgram(int fd, int parent, std::span<const std::string> program);

}  // namespace vernier
