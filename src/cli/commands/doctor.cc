// vernier doctor, and the process in which it looks at NVIDIA's driver.
#include <cstdio>
#include <string>

#include "cli/commands/command_start.h"
#include "cli/table/commands.h"
#include "doctor/doctor.h"
#include "options/table/document_format.h"
#include "options/table/option_sets.h"
#include "options/table/option_values.h"
#include "report/text/doctor_text.h"

namespace vernier {
namespace {

constexpr OptionRow kDoctor[] = {
    DocumentFormatRow("text or json."),
    {.flags = {"--require"},
     .dest = "require",
     .sets = Sets<&DoctorPlan::required>(),
     .arity = Arity::kPlus,
     .metavar = "NAME",
     .help = "Exit with code 5 if one of these parts cannot be used: names as doctor prints them,"
             " such as onnxruntime, numpy or gpu. If a backend has the same name as a package,"
             " python/torch is the package.",
     .origin = Origin::kOurs},
};

int DoctorCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kDoctorCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  DoctorPlan plan;
  ExecutionPlan workers;
  const Status bound = BindOptions(start.args, {}, {plan, workers});
  if (!bound.ok()) return EndCommand(bound, invocation, *start.log);
  plan.backend_dirs = workers.backend_dirs;
  plan.python = workers.python;
  const DoctorRecord record = Examine(plan);
  const bool json = WantsDocument(start.args);
  std::fputs((json ? FormatDoctorJson(record) : FormatDoctorText(record)).c_str(), stdout);
  return record.faults.empty() ? 0 : 5;
}

int GpuProbeCommand(std::span<const std::string>, const Invocation&) {
  const Result<std::string> devices = DescribeCudaDevices();
  std::printf("%s\n", devices.ok() ? devices->c_str() : devices.status().message().c_str());
  return devices.ok() ? 0 : 5;
}

}  // namespace

constexpr CommandSpec kDoctorCommand = {
    .name = "doctor",
    .section = CommandSection::kInstallation,
    .operands = "[options ...]",
    .summary = "show what is installed, found and usable, and how to get the rest",
    .about =
        "Check every backend and its framework, the Python interpreter and its packages, the GPU,"
        " memory and temporary space. For each missing part, show what it would enable and the"
        " command that installs it. The exit code is 0 if models can be run here and everything in"
        " --require is usable, else 5.",
    .options =
        [] {
          return OptionTable({GeneralGroup(),
                              OptionGroup{"Doctor", "looking at this installation", kDoctor},
                              BackendPlaceOptions()});
        },
    .run = DoctorCommand,
};

constexpr CommandSpec kGpuProbeCommand = {.name = "gpu-probe", .run = GpuProbeCommand};

}  // namespace vernier
