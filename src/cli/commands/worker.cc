#include <cstdio>

#include "backend/worker/worker_server.h"
#include "cli/table/commands.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

int WorkerCommand(std::span<const std::string> words, const Invocation&) {
  const std::optional<int64_t> fd = words.size() >= 2 ? ParseInt(words[0]) : std::nullopt;
  const std::optional<int64_t> parent = words.size() >= 2 ? ParseInt(words[1]) : std::nullopt;
  if (!fd || !parent) {
    std::fputs("vernier worker is started by vernier itself, not by hand\n", stderr);
    return 2;
  }
  const std::span<const std::string> program = words.subspan(2);
  return program.empty()
             ? RunWorkerProcess(static_cast<int>(*fd), static_cast<int>(*parent))
             : BecomeWorkerProgram(static_cast<int>(*fd), static_cast<int>(*parent), program);
}

}  // namespace

constexpr CommandSpec kWorkerCommand = {.name = "worker", .run = WorkerCommand};

}  // namespace vernier
