#include "util/process/process_memory.h"

#include <unistd.h>

#include <fstream>
#include <sstream>

namespace vernier {

std::optional<uint64_t> ResidentMemoryOf(const std::string& process) {
  std::ifstream pages("/proc/" + process + "/statm");
  uint64_t whole = 0, resident = 0;
  if (!(pages >> whole >> resident)) return std::nullopt;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::optional<FreeMemory> FindFreeMemory() {
  std::ifstream info("/proc/meminfo");
  std::optional<uint64_t> available;
  uint64_t swap = 0;
  for (std::string line; std::getline(info, line);) {
    std::istringstream words(line);
    std::string key;
    uint64_t kilobytes = 0;
    if (!(words >> key >> kilobytes)) continue;
    if (key == "MemAvailable:") available = kilobytes * 1024;
    if (key == "SwapFree:") swap = kilobytes * 1024;
  }
  if (!available) return std::nullopt;
  return FreeMemory{*available, *available + swap};
}

}  // namespace vernier
