#include "doctor/doctor.h"

#include <iterator>
#include <span>
#include <utility>

#include "backend/known/backend_path.h"
#include "core/version.h"
#include "doctor/known_parts.h"
#include "doctor/probe_parts.h"
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
    const KnownPart* const known = FindPart(KnownBackends(), part.name);
    const bool is_framework = known == nullptr || !known->package.empty();
    has_framework |= part.section == "backends" && part.state == PartState::kUsable && is_framework;
  }
  if (!has_framework) {
    record.faults.push_back("no framework can be used, so no model can be run: see Backends");
  }
  for (const std::string& name : required) {
    const DoctorPart* part = record.Find(name);
    if (part != nullptr && part->state == PartState::kUsable) continue;
    const std::string state =
        part == nullptr ? "there is no such part" : PartStateName(part->state);
    record.faults.push_back("--require " + name + ": " + state);
  }
}

}  // namespace

DoctorRecord Examine(const DoctorPlan& plan) {
  const std::vector<std::string> path = BackendSearchPath(plan.backend_dirs);
  DoctorRecord record{.version = kVersion};
  PythonPlace python;
  std::vector<DoctorPart> packages = ProbePackages(plan.python, python);
  Append(ProbeProgram(path), record.parts);
  Append(ProbeBackends(path, python), record.parts);
  Append(std::move(packages), record.parts);
  Append(ProbeGpu(), record.parts);
  Append(ProbeSystem(), record.parts);
  FindFaults(plan.required, record);
  return record;
}

Result<std::string> DescribeCudaDevices() {
  const Result<cuda::Driver> driver = cuda::Driver::Load();
  if (!driver.ok()) return driver.status();
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
  return text + "CUDA " + std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

}  // namespace vernier
