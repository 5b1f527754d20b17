#include <algorithm>
#include <cstdio>
#include <vector>

#include "backend/known/backend_path.h"
#include "backend/worker/backend_probe.h"
#include "cli/commands/command_start.h"
#include "cli/table/commands.h"
#include "options/table/option_sets.h"
#include "options/table/option_values.h"
#include "util/values/list_has.h"

namespace vernier {
namespace {

struct BackendsShown {
  std::vector<std::string> names;     // empty: all
  std::vector<std::string> required;  // each must be usable
  bool with_options = false;
};

constexpr OptionRow kBackends[] = {
    {.dest = "names",
     .sets = Sets<&BackendsShown::names>(),
     .arity = Arity::kStar,
     .metavar = "name",
     .help = "List only these backends. Exit code 5 if one of them does not exist.",
     .origin = Origin::kOurs},
    {.flags = {"-v", "--verbose"},
     .dest = "verbose",
     .sets = Sets<&BackendsShown::with_options>(),
     .action = OptionAction::kCount,
     .help = "Also list the options of each backend.",
     .origin = Origin::kOurs},
    {.flags = {"--require"},
     .dest = "require",
     .sets = Sets<&BackendsShown::required>(),
     .arity = Arity::kPlus,
     .metavar = "NAME",
     .help = "Exit with code 5 if one of these cannot be used.",
     .origin = Origin::kOurs},
};

void PrintOptions(const std::vector<BackendOption>& options) {
  for (const BackendOption& option : options) {
    std::string more;
    for (const std::string& value : option.values) {
      more += (more.empty() ? " One of " : ", ") + value;
    }
    if (!more.empty()) more += ".";
    if (!option.default_value.empty()) more += " Default: " + option.default_value + ".";
    std::printf("    %-26s %-6s %s.%s\n", option.name.c_str(), option.type.c_str(),
                option.help.c_str(), more.c_str());
  }
}

// A line is there when it is known, whoever reads it.
struct FlushedAtEnd {
  ~FlushedAtEnd() { std::fflush(stdout); }
};

// Prints one line, or more; returns whether the backend can be used.
bool List(const std::string& name, const Result<BackendInfo>& info, bool with_options) {
  const FlushedAtEnd flushed;
  if (!info.ok()) {
    std::printf("%-12s not usable: %s\n", name.c_str(), info.status().message().c_str());
    return false;
  }
  std::printf("%-12s %-10s %s\n", name.c_str(), info->framework_version.c_str(),
              info->framework_path.c_str());
  if (with_options) PrintOptions(info->options);
  return true;
}

// Says of each backend that was asked for and is not there, or not usable, that it is missing.
bool HasAll(const BackendsShown& shown, const std::vector<std::string>& found,
            const std::vector<std::string>& usable) {
  bool complete = true;
  for (const std::string& name : shown.names) {
    if (ListHas(found, name)) continue;
    std::fprintf(stderr, "[!] there is no backend '%s'; try vernier backends\n", name.c_str());
    complete = false;
  }
  for (const std::string& name : shown.required) {
    if (ListHas(usable, name)) continue;
    std::fprintf(stderr, "[!] backend '%s' is required and cannot be used\n", name.c_str());
    complete = false;
  }
  return complete;
}

int BackendsCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kBackendsCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  BackendsShown shown;
  ExecutionPlan workers;
  const Status bound = BindOptions(start.args, {}, {shown, workers});
  if (!bound.ok()) return EndCommand(bound, invocation, *start.log);
  const std::vector<std::string>& wanted = shown.names;
  const bool with_options = shown.with_options;
  std::vector<std::string> found, usable;
  std::vector<BackendFile> files = ListBackends(BackendSearchPath(workers.backend_dirs));
  std::erase_if(files, [&](const BackendFile& file) {
    return !wanted.empty() && !ListHas(wanted, file.name);
  });
  PluginProbes probes(std::move(files));
  for (size_t i = 0; i < probes.files().size(); ++i) {
    const std::string& name = probes.files()[i].name;
    found.push_back(name);
    if (List(name, probes.Await(i), with_options)) usable.push_back(name);
  }
  const std::string& python = workers.python;
  // Serves --trt where no plug-in fits, and its scripts.
  const std::string trt = "tensorrt_python";
  if (wanted.empty() || ListHas(wanted, trt)) {
    found.push_back(trt);
    const Result<BackendInfo> info = ProbePython(python, "tensorrt");
    // Without any, nothing is printed about it.
    const bool shown = info.ok() || !wanted.empty();
    if (shown && List(trt, info, with_options)) usable.push_back(trt);
  }
  if (wanted.empty() || ListHas(wanted, "python")) {
    found.push_back("python");
    if (List("python", ProbePython(python), with_options)) usable.push_back("python");
  }
  return HasAll(shown, found, usable) ? 0 : 5;
}

}  // namespace

constexpr CommandSpec kBackendsCommand = {
    .name = "backends",
    .section = CommandSection::kInstallation,
    .operands = "[name ...] [options ...]",
    .summary = "list the frameworks that were found, or why they cannot be used",
    .about =
        "List the backends of this installation with the framework that each one found, or the"
        " reason why it cannot be used.",
    .options =
        [] {
          return OptionTable({GeneralGroup(),
                              OptionGroup{"Backends", "listing backends", kBackends},
                              BackendPlaceOptions()});
        },
    .run = BackendsCommand,
};

}  // namespace vernier
