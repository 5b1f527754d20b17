#include "run/lanes/processor_text.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <span>

#include "util/text/number_text.h"
#include "util/text/split_text.h"

namespace vernier {
namespace {

constexpr std::string_view kNames[] = {"model name", "CPU implementer", "CPU part"};
constexpr std::string_view kFlags[] = {"flags", "Features"};
constexpr std::string_view kExtensions[] = {"sse4_2", "fma", "avx", "amx", "asimd", "sve"};

bool IsAmongKeys(std::string_view key, std::span<const std::string_view> keys) {
  return std::ranges::find(keys, key) != keys.end();
}

std::string ExtensionsIn(std::string_view flags) {
  std::string extensions;
  for (const std::string& flag : SplitAt(flags, ' ')) {
    const auto begins = [&](std::string_view extension) { return flag.starts_with(extension); };
    if (std::ranges::any_of(kExtensions, begins)) extensions += " " + flag;
  }
  return extensions;
}

}  // namespace

std::string DescribeProcessor(std::string_view cpuinfo) {
  std::string name, extensions;
  for (const std::string& line : SplitAt(cpuinfo, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) {
      if (!name.empty()) break;  // the next processor
      continue;
    }
    const std::string_view text = line;
    const std::string_view key = Trim(text.substr(0, colon));
    const std::string value(Trim(text.substr(colon + 1)));
    if (IsAmongKeys(key, kNames)) name += (name.empty() ? "" : " ") + value;
    if (IsAmongKeys(key, kFlags)) extensions = ExtensionsIn(value);
  }
  return name + (extensions.empty() ? "" : (name.empty() ? "with" : " with") + extensions);
}

std::string ProcessorText() {
  std::ifstream file("/proc/cpuinfo");
  return DescribeProcessor(std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace vernier
