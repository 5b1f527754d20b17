#include "core/memory_limit.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <string_view>

namespace vernier {
namespace {

constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

// A file that holds "max" gives no number.
uint64_t NumberIn(const std::string& path) {
  std::ifstream file(path);
  uint64_t number = 0;
  return file >> number ? number : kNone;
}

// The smallest limit on the way from a group up to the root.
uint64_t LimitOnTheWay(const std::string& mount, std::string group, const char* file) {
  uint64_t limit = NumberIn(mount + "/" + file);
  while (!group.empty() && group != "/") {
    limit = std::min(limit, NumberIn(mount + group + "/" + file));
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
  return limit;
}

bool HasController(std::string_view list, std::string_view wanted) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    if (list.substr(0, end) == wanted) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

uint64_t FindLimit() {
  struct sysinfo machine {};
  if (::sysinfo(&machine) != 0) return kNone;
  std::ifstream file("/proc/self/cgroup");
  const std::string membership(std::istreambuf_iterator<char>(file), {});
  const uint64_t memory = std::min(uint64_t{machine.totalram} * machine.mem_unit,
                                   ControlGroupLimit(membership, "/sys/fs/cgroup"));
  return memory + uint64_t{machine.totalswap} * machine.mem_unit;
}

}  // namespace

uint64_t ControlGroupLimit(const std::string& membership, const std::string& root) {
  uint64_t limit = kNone;
  std::istringstream lines(membership);
  // A line is "number:controllers:group"; version 2 names no controllers.
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      limit = std::min(limit, LimitOnTheWay(root, group, "memory.max"));
    } else if (HasController(controllers, "memory")) {
      limit = std::min(limit, LimitOnTheWay(root + "/memory", group, "memory.limit_in_bytes"));
    }
  }
  return limit;
}

uint64_t MemoryLimit() {
  static const uint64_t limit = FindLimit();
  return limit;
}

}  // namespace vernier
