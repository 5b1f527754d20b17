#include "cli/commands/origin.h"

#include <sys/utsname.h>

#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

#include "util/number_text.h"
#include "util/shell_words.h"

namespace vernier {
namespace {

std::string Utc(std::time_t now) {
  std::tm parts{};
  char text[32] = "";
  if (::gmtime_r(&now, &parts) != nullptr) {
    std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  }
  return text;
}

std::string System() {
  utsname names{};
  if (::uname(&names) != 0) return "";
  return std::string(names.sysname) + " " + names.release + " " + names.machine;
}

// Empty where the processor has no name there, as on arm64.
std::string Processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    return std::string(Trim(line.substr(line.find(':') + 1)));
  }
  return "";
}

std::vector<SettingRecord> Settings(const ParsedArgs& args, const OptionTable& table) {
  std::vector<SettingRecord> settings;
  for (const GivenOption& given : args.given()) {
    const std::string name =
        given.row->IsPositional() ? std::string(given.row->dest) : std::string(given.flag);
    settings.push_back({name, JoinForShell(given.values), true});
  }
  for (const OptionRow* row : table.rows()) {
    if (row->fallback.empty() || args.Has(row->dest)) continue;
    settings.push_back({std::string(row->flags[0]), std::string(row->fallback), false});
  }
  return settings;
}

}  // namespace

OriginRecord DescribeOrigin(const ParsedArgs& args, const OptionTable& table,
                            const Invocation& invocation) {
  OriginRecord origin;
  origin.words = invocation.words;
  std::error_code ignored;
  origin.directory = std::filesystem::current_path(ignored).string();
  origin.started = Utc(invocation.now);
  origin.system = System();
  origin.processor = Processor();
  origin.processors = std::thread::hardware_concurrency();
  origin.settings = Settings(args, table);
  return origin;
}

}  // namespace vernier
