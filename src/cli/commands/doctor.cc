// vernier doctor, and the process in which it looks at NVIDIA's driver.
#include <cstdio>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend_path.h"
#include "cli/commands/command_start.h"
#include "cli/commands/commands.h"
#include "cli/doctor/doctor_text.h"
#include "cli/doctor/probe_parts.h"
#include "cli/option_sets.h"
#include "core/version.h"
#include "vernier/backend_cuda.hpp"

namespace vernier {
namespace {

void Append(std::vector<DoctorPart> more, std::vector<DoctorPart>& parts) {
  parts.insert(parts.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
}

// Without one of these nothing can be run, or nothing that was asked for.
void FindFaults(std::span<const std::string> required, DoctorRecord& record) {
  for (const char* name : {"plug-ins", "shared-memory", "temporary-space"}) {
    const DoctorPart* part = record.Find(name);
    if (part == nullptr || part->state == PartState::kUsable) continue;
    record.faults.push_back(std::string(name) + ": " + part->why);
  }
  bool has_framework = false;
  for (const DoctorPart& part : record.parts) {
    // The other two run no models of a framework's.
    has_framework |= part.section == "backends" && part.state == PartState::kUsable &&
                     part.name != "identity" && part.name != "pluginref";
  }
  if (!has_framework) {
    record.faults.push_back("no framework can be used, so that no model can be run: see Backends");
  }
  for (const std::string& name : required) {
    const DoctorPart* part = record.Find(name);
    if (part != nullptr && part->state == PartState::kUsable) continue;
    const std::string state =
        part == nullptr ? "no part of that name is known" : PartStateName(part->state);
    record.faults.push_back("'" + name + "' is required: " + state);
  }
}

int DoctorCommand(std::span<const std::string> words, const Invocation& invocation) {
  const CommandStart start = StartCommand(kDoctorCommand, words, invocation);
  if (start.exit_code) return *start.exit_code;
  std::vector<std::string> dirs;
  for (const std::span<const std::string> more : start.args.Occurrences("backend_dir")) {
    dirs.insert(dirs.end(), more.begin(), more.end());
  }
  const std::vector<std::string> path = BackendSearchPath(dirs);
  const std::string given(start.args.Value("python").value_or(""));
  DoctorRecord record{.version = kVersion};
  PythonPlace python;
  std::vector<DoctorPart> packages = ProbePackages(given, python);
  Append(ProbeProgram(path), record.parts);
  Append(ProbeBackends(path, python), record.parts);
  Append(std::move(packages), record.parts);
  Append(ProbeGpu(), record.parts);
  Append(ProbeSystem(), record.parts);
  FindFaults(start.args.List("require"), record);
  const bool as_json = start.args.Value("format").value_or("text") == "json";
  std::fputs((as_json ? FormatDoctorJson(record) : FormatDoctorText(record)).c_str(), stdout);
  return record.faults.empty() ? 0 : 5;
}

int GpuProbeCommand(std::span<const std::string>, const Invocation&) {
  const Result<cuda::Driver> driver = cuda::Driver::Load();
  if (!driver.ok()) {
    std::printf("%s\n", driver.status().message().c_str());
    return 5;
  }
  int devices = 0, version = 0;
  (void)driver->DeviceGetCount(&devices);
  (void)driver->DriverGetVersion(&version);
  std::string text;
  for (int ordinal = 0; ordinal < devices; ++ordinal) {
    cuda::DeviceNumber device = 0;
    char name[256] = "unknown";
    int major = 0, minor = 0;
    if (driver->DeviceGet(&device, ordinal) != 0) continue;
    (void)driver->DeviceGetName(name, sizeof(name), device);
    (void)driver->DeviceGetAttribute(&major, cuda::kComputeMajor, device);
    (void)driver->DeviceGetAttribute(&minor, cuda::kComputeMinor, device);
    text += std::to_string(ordinal) + ": " + name + " (compute " + std::to_string(major) + "." +
            std::to_string(minor) + "), ";
  }
  std::printf("%sCUDA %d.%d\n", text.c_str(), version / 1000, version % 1000 / 10);
  return 0;
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
