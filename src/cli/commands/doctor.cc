// vernier doctor, and the process in which it looks at NVIDIA's driver.
#include <cstdio>
#include <string>

#include "cli/commands/command_start.h"
#include "cli/table/commands.h"
#include "doctor/doctor.h"
#include "options/table/option_sets.h"
#include "report/text/doctor_text.h"

namespace vernier {
namespace {

int DoctorCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kDoctorCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  DoctorPlan plan;
  plan.backend_dirs = AllWordsOf(start.args, "backend_dir");
  plan.python = TextOf(start.args, "python");
  plan.required = ListOf(start.args, "require");
  const DoctorRecord record = Examine(plan);
  const bool as_json = start.args.Value("format").value_or("text") == "json";
  std::fputs((as_json ? FormatDoctorJson(record) : FormatDoctorText(record)).c_str(), stdout);
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
          return OptionTable({GeneralGroup(), DoctorGroup(), BackendPlaceOptions()});
        },
    .run = DoctorCommand,
};

constexpr CommandSpec kGpuProbeCommand = {.name = "gpu-probe", .run = GpuProbeCommand};

}  // namespace vernier
