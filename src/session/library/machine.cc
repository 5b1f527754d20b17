// The machine, the folder and the time of a call.
#include <sys/utsname.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "session/run/run_session.h"
#include "util/text/number_text.h"
#include "util/text/utc_text.h"
#include "util/threads/allowed_processors.h"

namespace vernier {
namespace {

std::string System() {
  utsname names{};
  if (::uname(&names) != 0) return "";
  return std::string(names.sysname) + " " + names.release + " " + names.machine;
}

// Empty where the processor has no name there, as on arm64.
std::string ProcessorModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    return std::string(Trim(line.substr(line.find(':') + 1)));
  }
  return "";
}

}  // namespace

OriginRecord DescribeMachine(std::time_t now) {
  OriginRecord origin;
  std::error_code ignored;
  origin.directory = std::filesystem::current_path(ignored).string();
  origin.started = UtcText(now);
  origin.system = System();
  origin.processor = ProcessorModel();
  origin.processors = static_cast<int64_t>(AllowedProcessors());
  return origin;
}

}  // namespace vernier
