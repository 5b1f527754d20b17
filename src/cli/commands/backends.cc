#include <atomic>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include "backend/backend_path.h"
#include "backend/worker.h"
#include "cli/commands/commands.h"

namespace vernier {
namespace {

constexpr const char* kUsage =
    "usage: vernier backends [--backend-dir DIR]... [--require NAME...]\n"
    "\n"
    "Lists the backends of this installation, the framework that each found, or why it cannot be\n"
    "used.\n"
    "\n"
    "  --backend-dir DIR   also look for backends here, first\n"
    "  --require NAME...   exit with 5 if one of these cannot be used\n";

struct BackendsOptions {
  std::vector<std::string> dirs;
  std::vector<std::string> required;
};

std::optional<BackendsOptions> Parse(std::span<const std::string> words) {
  BackendsOptions options;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--backend-dir" && i + 1 < words.size()) {
      options.dirs.push_back(words[++i]);
    } else if (words[i] == "--require" && i + 1 < words.size()) {
      while (i + 1 < words.size() && !words[i + 1].starts_with("--")) {
        options.required.push_back(words[++i]);
      }
    } else {
      return std::nullopt;
    }
  }
  return options;
}

// What frameworks log while they load is not for a list.
class NoLog final : public Logger {
 public:
  bool Enabled(Severity) const override { return false; }
  void Write(Severity, std::string_view, LogColor, bool) override {}
  void Indent(int) override {}
};

// A process of its own for each: a framework that crashes while loading is one line of the list.
Result<BackendInfo> Probe(const BackendFile& file) {
  static const std::atomic<int> kNotInterrupted{0};
  NoLog log;
  WorkerOptions options;
  options.load.plugin_path = file.path;
  options.interrupted = &kNotInterrupted;
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<Worker> worker,
                           Worker::Start(std::move(options), log));
  return worker->AwaitLoad();
}

}  // namespace

int BackendsCommand(std::span<const std::string> words) {
  const bool help = words.size() == 1 && (words[0] == "--help" || words[0] == "-h");
  const std::optional<BackendsOptions> options = Parse(words);
  if (help || !options) {
    std::fputs(kUsage, help ? stdout : stderr);
    return help ? 0 : 2;
  }
  std::vector<std::string> usable;
  for (const BackendFile& file : ListBackends(BackendSearchPath(options->dirs))) {
    const Result<BackendInfo> info = Probe(file);
    if (!info.ok()) {
      std::printf("%-12s not usable: %s\n", file.name.c_str(), info.status().message().c_str());
      continue;
    }
    usable.push_back(file.name);
    std::printf("%-12s %-10s %s\n", file.name.c_str(), info->framework_version.c_str(),
                info->framework_path.c_str());
  }
  bool complete = true;
  for (const std::string& name : options->required) {
    if (std::find(usable.begin(), usable.end(), name) != usable.end()) continue;
    std::fprintf(stderr, "backend '%s' is required and cannot be used\n", name.c_str());
    complete = false;
  }
  return complete ? 0 : 5;
}

}  // namespace vernier
