// Finds a framework's shared library in the places where people install it. For plug-ins;
// header-only. Starts no process and runs no Python. Thread-safe as long as no thread changes the
// environment.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "vernier/status.h"

namespace vernier::sdk {

/// Where to look for a framework's library.
struct LibrarySearch {
  std::string framework;                  ///< "ONNX Runtime", for messages
  std::string install_hint;               ///< "pip install onnxruntime"
  std::string option;                     ///< "--onnxrt-lib", for messages
  std::string root_variable;              ///< environment variable with its root or library
  std::vector<std::string> root_dirs;     ///< below a root, besides lib and lib64
  std::vector<std::string> python_dirs;   ///< below site-packages: "onnxruntime/capi"
  std::string stem;                       ///< file name up to ".so": "libonnxruntime"
  std::vector<std::string> system_names;  ///< for the dynamic linker: "libonnxruntime.so.1"
};

/// `handle` is dlopen's and is not closed: frameworks do not survive being unloaded.
struct LoadedLibrary {
  void* handle = nullptr;
  std::string path;
};

namespace internal {

namespace fs = std::filesystem;

// `stem`.so, `stem`.so.<version>, or `stem` as Python calls an extension module, such as
// `stem`.cpython-311-x86_64-linux-gnu.so or `stem`.abi3.so, in a folder, in the order of their
// names.
inline std::vector<std::string> LibrariesIn(const fs::path& folder, const std::string& stem) {
  std::vector<std::string> found;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool plain = name == stem + ".so" || name.starts_with(stem + ".so.");
    const bool module = name.starts_with(stem + ".cpython-") || name.starts_with(stem + ".abi3.");
    if (plain || (module && name.ends_with(".so"))) found.push_back(entry.path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

inline void AppendSitePackages(const fs::path& environment, std::vector<fs::path>& out) {
  std::error_code error;
  for (const char* lib : {"lib", "lib64"}) {
    for (const fs::directory_entry& entry : fs::directory_iterator(environment / lib, error)) {
      if (entry.path().filename().string().starts_with("python3")) {
        out.push_back(entry.path() / "site-packages");
        out.push_back(entry.path() / "dist-packages");
      }
    }
  }
}

// The environment that `python3` on PATH belongs to, without running it.
inline fs::path PythonOnPath() {
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    const fs::path candidate = fs::path(rest.substr(0, colon)) / "python3";
    std::error_code error;
    if (fs::exists(candidate, error)) return candidate.parent_path().parent_path();
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return {};
}

// The environments in the project's own .deps, which is beside or above the executable: a build
// tree finds it from any preset. A package that is got by itself has one under its name.
inline std::vector<fs::path> OwnDependencies(const std::vector<std::string>& python_dirs) {
  std::error_code error;
  fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (int level = 0; level < 6 && folder.has_relative_path(); ++level) {
    const fs::path deps = folder / ".deps";
    if (fs::is_directory(deps, error)) {
      std::vector<fs::path> environments = {deps / "runtimes"};
      for (const std::string& dir : python_dirs) {
        environments.push_back(deps / dir.substr(0, dir.find('/')));
      }
      return environments;
    }
    folder = folder.parent_path();
  }
  return {};
}

}  // namespace internal

/// The site-packages folders to look in, best first: $VIRTUAL_ENV, $CONDA_PREFIX, the environment
/// of python3 on PATH, what pip installs for the user and for the machine, the project's own .deps.
inline std::vector<std::filesystem::path> SitePackages(const LibrarySearch& search) {
  std::vector<std::filesystem::path> folders;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const char* value = std::getenv(variable)) internal::AppendSitePackages(value, folders);
  }
  const char* home = std::getenv("HOME");
  std::vector<std::filesystem::path> environments = {
      internal::PythonOnPath(),
      home != nullptr ? std::filesystem::path(home) / ".local" : std::filesystem::path(),
      std::filesystem::path("/usr/local")};
  for (std::filesystem::path& own : internal::OwnDependencies(search.python_dirs)) {
    environments.push_back(std::move(own));
  }
  for (const std::filesystem::path& environment : environments) {
    if (!environment.empty()) internal::AppendSitePackages(environment, folders);
  }
  return folders;
}

/// The folders to search below a place that the user named: the place itself, an install prefix, a
/// Python environment, its site-packages, or the wheel's folder in there. They need not exist.
inline std::vector<std::filesystem::path> FoldersOfRoot(const LibrarySearch& search,
                                                        const std::filesystem::path& root) {
  namespace fs = std::filesystem;
  std::vector<fs::path> folders = {root, root / "lib", root / "lib64"};
  for (const std::string& dir : search.root_dirs) folders.push_back(root / dir);
  std::vector<fs::path> sites = {root};
  internal::AppendSitePackages(root, sites);
  for (const std::string& dir : search.python_dirs) {
    for (const fs::path& site : sites) folders.push_back(site / dir);
    folders.push_back(root / dir.substr(dir.find('/') + 1));
  }
  return folders;
}

/// Candidate files in the order in which they are tried: the option's value, the environment
/// variable, Python environments; names for the dynamic linker come last.
inline std::vector<std::string> LibraryCandidates(const LibrarySearch& search,
                                                  std::string_view option_value) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  const auto add_root = [&](const fs::path& root) {
    std::error_code error;
    if (fs::is_regular_file(root, error)) files.push_back(root.string());
    for (const fs::path& folder : FoldersOfRoot(search, root)) {
      const std::vector<std::string> found = internal::LibrariesIn(folder, search.stem);
      files.insert(files.end(), found.begin(), found.end());
    }
  };
  if (!option_value.empty()) {
    add_root(fs::path(option_value));
    return files;  // asked for by name: nothing else will do
  }
  if (const char* root = std::getenv(search.root_variable.c_str())) add_root(root);
  for (const fs::path& site : SitePackages(search)) {
    for (const std::string& dir : search.python_dirs) {
      const std::vector<std::string> found = internal::LibrariesIn(site / dir, search.stem);
      files.insert(files.end(), found.begin(), found.end());
    }
  }
  files.insert(files.end(), search.system_names.begin(), search.system_names.end());
  return files;
}

namespace internal {

// The version that a Python package states in its __init__.py; empty where it computes it.
inline std::string StatedVersion(const fs::path& package) {
  std::ifstream in(package / "__init__.py");
  constexpr std::string_view kBegin = "__version__ = \"";
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(kBegin)) continue;
    const size_t end = line.find('"', kBegin.size());
    if (end != std::string::npos) return line.substr(kBegin.size(), end - kBegin.size());
  }
  return {};
}

}  // namespace internal

/// "found onnxruntime 1.17.3 at '...', which has no ...": of the first of these site-packages
/// folders that has the framework's wheel, but no library within it. Empty where none has.
inline std::string WheelWithoutLibrary(const LibrarySearch& search,
                                       const std::vector<std::filesystem::path>& sites) {
  for (const std::filesystem::path& site : sites) {
    for (const std::string& dir : search.python_dirs) {
      std::error_code error;
      const bool is_there = std::filesystem::is_directory(site / dir, error);
      if (!is_there || !internal::LibrariesIn(site / dir, search.stem).empty()) continue;
      const std::string name = dir.substr(0, dir.find('/'));
      const std::string version = internal::StatedVersion(site / name);
      return "found " + name + (version.empty() ? "" : " " + version) + " at '" +
             (site / name).string() + "', which has no " + search.stem +
             ".so to load, as old wheels have none; `" + search.install_hint +
             " --upgrade` there brings one, and --model-runner SCRIPT.py --python INTERPRETER runs "
             "what is there, as docs/python-scripts.md shows";
    }
  }
  return {};
}

/// kUnavailable: nothing of the framework is at the place that an option names. Where that place is
/// a Python environment, --python may have named it.
inline Status NotAtPlace(const LibrarySearch& search, std::string_view option_value) {
  const std::string place(option_value);
  std::vector<std::filesystem::path> sites = {place};
  internal::AppendSitePackages(place, sites);
  // The wheel's own folders, the package and the one in it, name it as well.
  std::filesystem::path wheel = std::filesystem::path(place).lexically_normal();
  if (!wheel.has_filename()) wheel = wheel.parent_path();
  for (const std::filesystem::path dir : search.python_dirs) {
    if (wheel.filename() == dir.filename()) sites.push_back(wheel.parent_path().parent_path());
    if (wheel.filename() == dir.parent_path()) sites.push_back(wheel.parent_path());
  }
  const std::string old = WheelWithoutLibrary(search, sites);
  if (!old.empty()) return Unavailable(old + " (" + search.option + ")");
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::path(place) / "bin" / "python3", error)) {
    return Unavailable(search.framework + " is not at '" + place +
                       "', the environment of a Python (" + "--python or " + search.option +
                       "); `" + search.install_hint + "` there adds it");
  }
  return Unavailable(search.framework + " is not at '" + place + "' (" + search.option + ")");
}

/// Opens the first candidate that loads. kUnavailable, with what was tried and how to install the
/// framework, if none does.
inline Result<LoadedLibrary> LoadFrameworkLibrary(const LibrarySearch& search,
                                                  std::string_view option_value) {
  std::string failures;
  for (const std::string& file : LibraryCandidates(search, option_value)) {
    if (void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return LoadedLibrary{handle, file};
    }
    failures += std::string("; ") + ::dlerror();
  }
  if (!option_value.empty() && failures.empty()) return NotAtPlace(search, option_value);
  const std::string old = WheelWithoutLibrary(search, SitePackages(search));
  if (!old.empty()) {
    return Unavailable(search.framework + ": " + old + ", or name a library with " + search.option +
                       " or $" + search.root_variable + failures);
  }
  return Unavailable(search.framework + " was not found; install it with `" + search.install_hint +
                     "`, or name its library with " + search.option + " or $" +
                     search.root_variable + failures);
}

}  // namespace vernier::sdk
