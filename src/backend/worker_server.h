// The worker's side of the protocol: loads one plug-in and serves its sessions.
#pragma once

#include "backend/channel.h"

namespace vernier {

/// Serves requests until the parent closes the channel. Returns the process's exit status.
int ServeWorker(Channel channel);

/// The body of `vernier worker`: what must be set up in a process of its own before serving on
/// descriptor `fd`: it dies with the process `parent` and leaves no core file.
int RunWorkerProcess(int fd, int parent);

}  // namespace vernier
