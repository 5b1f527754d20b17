#include "doctor/probe_parts.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "backend/known/python_program.h"
#include "backend/worker/backend_probe.h"
#include "core/version.h"
#include "util/process/own_program.h"
#include "util/process/program_output.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

constexpr double kPythonSeconds = 30;
constexpr std::string_view kRebuild =
    " && cmake --preset release && cmake --build --preset release";

// "<framework> was not found; install it with ...": the rest is what the command says.
bool IsMissing(const Status& status, std::string& why) {
  why = status.message();
  const size_t at = why.find(" was not found; install it with ");
  if (at == std::string::npos) return false;
  why.resize(at + std::string_view(" was not found").size());
  return true;
}

DoctorPart PartOfPlugin(const BackendFile& file, const Result<BackendInfo>& info,
                        const PythonPlace& python) {
  DoctorPart part{.section = "backends", .name = file.name};
  const KnownPart* known = FindPart(KnownBackends(), file.name);
  part.enables = known != nullptr ? std::string(known->enables) : "--runner LABEL=" + file.name;
  if (info.ok()) {
    part.version = info->framework_version;
    part.path = info->framework_path.empty() ? file.path : info->framework_path;
    return part;
  }
  part.path = file.path;
  part.state = IsMissing(info.status(), part.why) ? PartState::kMissing : PartState::kUnusable;
  if (known == nullptr) return part;
  // One that is there and cannot be used is as a rule an old one, which pip would leave as it is.
  const auto wanted = part.state == PartState::kMissing ? Wanted::kAny : Wanted::kNewest;
  part.command = PipCommand(python, known->package, wanted);
  return part;
}

// A backend whose plug-in was not built. Python modules can take the place of two.
DoctorPart PartNotBuilt(const KnownPart& known, const PythonPlace& python) {
  DoctorPart part{.section = "backends", .name = std::string(known.name)};
  part.state = PartState::kMissing;
  part.enables = std::string(known.enables);
  part.why =
      "this installation has no plug-in for it: it was built without its headers, or is a wheel";
  if (IsPluginOrPython(known.name)) {
    part.why += "; the Python module " + std::string(known.name) + " serves in its place";
    part.command = PipCommand(python, known.package);
  } else {
    part.command =
        (known.deps_set.empty() ? std::string("scripts/setup.sh")
                                : "scripts/deps.sh --with " + std::string(known.deps_set)) +
        std::string(kRebuild);
  }
  return part;
}

// One line of packages.py: three words with tabs between.
struct PackageLine {
  std::string name, version, path;
};

std::vector<PackageLine> ReadPackageLines(std::string_view text) {
  std::vector<PackageLine> lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const size_t first = line.find('\t');
    const size_t second = first == line.npos ? line.npos : line.find('\t', first + 1);
    if (second == line.npos) continue;
    lines.push_back({std::string(line.substr(0, first)),
                     std::string(line.substr(first + 1, second - first - 1)),
                     std::string(line.substr(second + 1))});
  }
  return lines;
}

Result<std::vector<PackageLine>> AskPython(const std::string& given) {
  VERNIER_ASSIGN_OR_RETURN(std::string python, FindPython(given));
  const std::string script = (OwnPrefix() / "libexec/vernier/packages.py").string();
  std::vector<std::string> words = {std::move(python), "-B", script};
  for (const KnownPart& known : KnownPackages()) words.emplace_back(known.name);
  VERNIER_ASSIGN_OR_RETURN(const ProgramOutput output, RunProgram(words, kPythonSeconds));
  std::vector<PackageLine> lines = ReadPackageLines(output.out);
  if (output.exit_code == 0 && lines.size() == KnownPackages().size() + 2) return lines;
  return Unavailable("'" + words[0] + "' cannot run '" + script + "': exit code " +
                     std::to_string(output.exit_code));
}

DoctorPart PartOfPackage(const PackageLine& line, const PythonPlace& place) {
  const KnownPart& known = *FindPart(KnownPackages(), line.name);
  DoctorPart part{.section = "python",
                  .name = known.shown.empty() ? line.name : std::string(known.shown)};
  part.enables = std::string(known.enables);
  part.version = line.version;
  part.path = line.path;
  if (!line.path.empty()) return part;
  part.state = PartState::kMissing;
  part.command = PipCommand(place, known.package);
  return part;
}

DoctorPart PartOfPython(const std::string& given, const Status& trouble) {
  DoctorPart part{.section = "python", .name = "python"};
  part.enables = "scripts, runners in Python, and the commands that use packages";
  if (trouble.ok()) return part;
  const bool is_named = !given.empty();
  part.state = is_named ? PartState::kUnusable : PartState::kMissing;
  part.why = trouble.message();
  part.command = is_named ? "" : "sudo apt-get install python3-venv";
  return part;
}

}  // namespace

std::vector<DoctorPart> ProbeProgram(const std::vector<std::string>& backend_path) {
  std::vector<DoctorPart> parts;
  parts.push_back({.section = "program",
                   .name = "program",
                   .version = kVersion,
                   .path = OwnProgram().string()});
  std::string folders;
  std::error_code error;
  for (const std::string& folder : backend_path) {
    if (fs::is_directory(folder, error)) folders += (folders.empty() ? "" : ":") + folder;
  }
  const size_t plugins = ListBackends(backend_path).size();
  DoctorPart backends{.section = "program", .name = "plug-ins", .path = folders};
  backends.enables = "runners of every framework";
  backends.version = std::to_string(plugins) + " found";
  if (plugins == 0) {
    backends.state = PartState::kUnusable;
    backends.why =
        "there is no libvernier_backend_*.so along the search path; --backend-dir or"
        " VERNIER_BACKEND_PATH names a folder";
  }
  parts.push_back(std::move(backends));
  DoctorPart python{.section = "program", .name = "python-part"};
  python.path = (OwnPrefix() / "libexec/vernier").string();
  python.enables = "scripts and runners in Python";
  if (!fs::exists(fs::path(python.path) / "worker.py", error)) {
    python.state = PartState::kUnusable;
    python.why = "this installation lacks it: there is no worker.py in that folder";
  }
  parts.push_back(std::move(python));
  return parts;
}

std::vector<DoctorPart> ProbePackages(const std::string& given, PythonPlace& place) {
  const Result<std::vector<PackageLine>> lines = AskPython(given);
  if (!lines.ok()) return {PartOfPython(given, lines.status())};
  DoctorPart python = PartOfPython(given, {});
  std::vector<DoctorPart> packages;
  for (const PackageLine& line : *lines) {
    if (line.name == "python") {
      python.version = line.version;
      python.path = place.path = line.path;
    } else if (line.name == "managed") {
      place.managed = line.version == "1";
    } else {
      packages.push_back(PartOfPackage(line, place));
    }
  }
  // NumPy is what the worker itself imports: whether that works is worth the try.
  const bool has_numpy = !packages.empty() && packages.front().state == PartState::kUsable;
  if (has_numpy) {
    if (const Result<BackendInfo> worker = ProbePython(given); !worker.ok()) {
      packages.front().state = PartState::kUnusable;
      packages.front().why = worker.status().message();
    }
  }
  packages.insert(packages.begin(), std::move(python));
  return packages;
}

std::vector<DoctorPart> ProbeBackends(const std::vector<std::string>& backend_path,
                                      const PythonPlace& python) {
  PluginProbes probes(ListBackends(backend_path));
  const std::vector<BackendFile>& files = probes.files();
  std::vector<DoctorPart> parts;
  for (size_t i = 0; i < files.size(); ++i) {
    parts.push_back(PartOfPlugin(files[i], probes.Await(i), python));
  }
  for (const KnownPart& known : KnownBackends()) {
    const bool is_built = std::any_of(files.begin(), files.end(), [&](const BackendFile& file) {
      return FindPart(std::span(&known, 1), file.name) != nullptr;
    });
    if (!is_built) parts.push_back(PartNotBuilt(known, python));
  }
  return parts;
}

}  // namespace vernier
