#include "util/process_memory.h"

#include <unistd.h>

#include <fstream>

namespace vernier {

std::optional<uint64_t> ResidentMemoryOf(const std::string& process) {
  std::ifstream pages("/proc/" + process + "/statm");
  uint64_t whole = 0, resident = 0;
  if (!(pages >> whole >> resident)) return std::nullopt;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace vernier
