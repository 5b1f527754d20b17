#include "backend/worker/loaded_modules.h"

#include <cstdint>

namespace vernier {

Result<std::vector<LoadedModule>> ListLoadedModules(Worker& worker) {
  VERNIER_ASSIGN_OR_RETURN(
      const Worker::Answer answer,
      worker.Ask(MessageType::kListModules, MessageWriter(), -1, "listing its Python modules"));
  MessageReader in(answer.body);
  constexpr size_t kLeastModule = 4 * sizeof(uint64_t);
  std::vector<LoadedModule> modules(in.Count(kLeastModule));
  for (LoadedModule& module : modules) {
    module.name = in.Text();
    module.version = in.Text();
    module.content = in.Text();
    module.path = in.Text();
  }
  if (!in.finished()) return BackendError("a worker sent a malformed list of its Python modules");
  return modules;
}

}  // namespace vernier
