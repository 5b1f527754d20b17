#include "cli/commands/interruption.h"

#include <unistd.h>

#include <csignal>

#include "util/process/interruption.h"

namespace vernier {
namespace {

// Set by the signal handler, read between steps of the work: the only state that a handler can
// share with the program.
std::atomic<int> g_interrupted{0};

void OnSignal(int signal) {
  // A second Ctrl-C means it.
  if (g_interrupted.exchange(signal) != 0) ::_exit(128 + signal);
}

}  // namespace

const std::atomic<int>& WatchSignals() {
  struct sigaction action {};
  action.sa_handler = &OnSignal;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
  return g_interrupted;
}

int ReceivedSignal() { return g_interrupted.load(); }

Status CheckInterrupted() { return CheckInterrupted(g_interrupted); }

}  // namespace vernier
