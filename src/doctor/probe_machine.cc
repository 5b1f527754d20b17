// The machine's sections of vernier doctor: GPU and system.
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "core/memory_limit.h"
#include "doctor/probe_parts.h"
#include "gpu/ptx_table.h"
#include "util/files/scratch_folder.h"
#include "util/files/shared_memory.h"
#include "util/process/own_program.h"
#include "util/process/processor.h"
#include "util/process/program_output.h"
#include "util/text/number_text.h"
#include "util/threads/allowed_processors.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

constexpr double kDriverSeconds = 30;

// The kernel's side of the driver, as "570.124.06"; empty where it is not loaded.
std::string KernelDriver() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string word;
  // "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.124.06  ..."
  while (file >> word) {
    const bool is_version =
        word.find('.') != word.npos && word.find_first_not_of("0123456789.") == word.npos;
    if (is_version) return word;
  }
  return "";
}

// In a container the driver comes from outside; else from the distribution.
std::string DriverCommand() {
  std::error_code error;
  for (const char* mark : {"/.dockerenv", "/run/.containerenv"}) {
    if (fs::exists(mark, error)) return "docker run --gpus all IMAGE (from outside the container)";
  }
  std::ifstream release("/etc/os-release");
  for (std::string line; std::getline(release, line);) {
    if (line == "ID=ubuntu") return "sudo ubuntu-drivers install";
  }
  return "sudo apt-get install nvidia-driver (of Debian's section non-free)";
}

DoctorPart PartOfFolder(const char* name, const std::string& folder) {
  DoctorPart part{.section = "system", .name = name, .path = folder};
  struct statvfs space = {};
  if (::statvfs(folder.c_str(), &space) != 0) return part;
  part.version = FormatBytes(uint64_t{space.f_bavail} * space.f_frsize) + " free";
  return part;
}

DoctorPart PartOfSharedMemory() {
  DoctorPart part{.section = "system", .name = "shared-memory"};
  part.enables = "tensors between this program and its workers (memfd)";
  Status status;
  if (auto memory = SharedMemory::Create(); !memory.ok()) {
    status = memory.status();
  } else if (auto place = (*memory)->Allocate(size_t{1} << 20); !place.ok()) {
    status = place.status();
  } else {
    status = (*memory)->Seal();
  }
  if (status.ok()) return part;
  part.state = PartState::kUnusable;
  part.why = status.message();
  return part;
}

DoctorPart PartOfTemporarySpace() {
  const Result<ScratchFolder> folder = ScratchFolder::Create();
  std::error_code error;
  const std::string path = fs::temp_directory_path(error).string();
  DoctorPart part = PartOfFolder("temporary-space", path);
  part.enables =
      "outputs that wait (--sequential-runners), names of fused layers, bundles; TMPDIR names"
      " another folder";
  if (error) {
    const char* variable = std::getenv("TMPDIR");
    part.state = PartState::kUnusable;
    part.why = "TMPDIR is '" + std::string(variable == nullptr ? "" : variable) +
               "': " + error.message() + "; name a folder";
  } else if (!folder.ok()) {
    part.state = PartState::kUnusable;
    part.why = folder.status().message();
  } else if (std::string fault = TemporarySpaceFault(); !fault.empty()) {
    part.state = PartState::kUnusable;
    part.why = std::move(fault);
  }
  return part;
}

}  // namespace

std::vector<DoctorPart> ProbeGpu() {
  DoctorPart driver{.section = "gpu", .name = "gpu"};
  driver.enables = "--trt, GPU providers of ONNX Runtime, comparison where outputs lie";
  std::vector<DoctorPart> parts;
  // In a process of its own: a driver may crash or hang.
  const Result<ProgramOutput> output =
      RunProgram({OwnProgram().string(), "gpu-probe"}, kDriverSeconds);
  const std::string text(Trim(output.ok() ? output->out : output.status().message()));
  if (output.ok() && output->exit_code == 0) {
    driver.version = text;
    if (const std::string kernel = KernelDriver(); !kernel.empty()) {
      driver.version += ", driver " + kernel;
    }
  } else {
    const bool is_absent =
        text.find("cannot be opened") != text.npos || text.find("sees no device") != text.npos;
    const bool is_missing = is_absent && KernelDriver().empty();
    driver.state = is_missing ? PartState::kMissing : PartState::kUnusable;
    driver.why = text.empty() ? "the driver ended the process that looked at it (exit code " +
                                    std::to_string(output->exit_code) + ")"
                              : text;
    driver.command = DriverCommand();
  }
  DoctorPart kernels{.section = "gpu", .name = "gpu-kernels"};
  kernels.enables = "comparing outputs on the GPU, without copying them";
  if (gpu::PtxModules().empty()) {
    kernels.state = PartState::kMissing;
    kernels.why = "this program was built without nvcc: outputs are copied and compared on the CPU";
    kernels.command =
        "sudo apt-get install nvidia-cuda-toolkit && cmake --preset release -DVERNIER_GPU=ON && "
        "cmake"
        " --build --preset release";
  }
  parts.push_back(std::move(driver));
  parts.push_back(std::move(kernels));
  return parts;
}

std::vector<DoctorPart> ProbeSystem() {
  std::vector<DoctorPart> parts = {PartOfSharedMemory(), PartOfTemporarySpace()};
  parts.push_back(
      {.section = "system", .name = "processors", .version = std::to_string(AllowedProcessors())});
  parts.push_back(
      {.section = "system", .name = "instructions", .version = DescribeProcessor(Processor())});
  parts.push_back({.section = "system", .name = "memory", .version = FormatBytes(MemoryLimit())});
  struct rlimit files = {};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    parts.push_back({.section = "system",
                     .name = "open-files",
                     .version = "at most " + std::to_string(files.rlim_cur)});
  }
  return parts;
}

}  // namespace vernier
