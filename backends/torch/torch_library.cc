#include "torch_library.h"

#include <cctype>
#include <fstream>
#include <optional>

#include "vernier/framework_library.hpp"

namespace vernier {
namespace {

namespace fs = std::filesystem;

sdk::LibrarySearch Search() {
  sdk::LibrarySearch search;
  search.framework = "PyTorch";
  search.install_hint = "pip install torch";
  search.option = "--torch-lib";
  search.root_variable = "TORCH_ROOT";
  search.python_dirs = {"torch/lib"};
  search.stem = "libtorch";
  return search;
}

// The folders of the dynamic linker that distributions use. It is not asked: it would load the
// library before its version is known.
std::vector<fs::path> SystemFolders() {
  std::vector<fs::path> folders;
  std::string_view rest = "";
  if (const char* variable = std::getenv("LD_LIBRARY_PATH")) rest = variable;
  while (!rest.empty()) {
    folders.emplace_back(rest.substr(0, rest.find(':')));
    rest.remove_prefix(std::min(rest.find(':'), rest.size() - 1) + 1);
  }
  for (const char* folder :
       {"/usr/local/lib", "/usr/lib/" VERNIER_LIBRARY_ARCHITECTURE, "/usr/lib64", "/usr/lib"}) {
    folders.emplace_back(folder);
  }
  return folders;
}

// The word in quotes of `__version__ = '2.11.0+cu130'`.
std::optional<std::string> VersionOfPackage(const fs::path& file) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("__version__")) continue;
    const size_t begin = line.find_first_of("'\"");
    const size_t end = line.find_last_of("'\"");
    if (begin != std::string::npos && end > begin) return line.substr(begin + 1, end - begin - 1);
  }
  return std::nullopt;
}

std::optional<std::string> FirstWord(const fs::path& file) {
  std::ifstream in(file);
  std::string word;
  return in >> word ? std::optional(word) : std::nullopt;
}

// What follows ".so." in the real file's name: "1.13.0".
std::optional<std::string> VersionInName(const fs::path& library) {
  std::error_code error;
  const std::string name = fs::canonical(library, error).filename().string();
  const size_t suffix = name.find(".so.");
  if (error || suffix == std::string::npos || suffix + 4 == name.size()) return std::nullopt;
  return name.substr(suffix + 4);
}

// Debian has it in the library's name, a wheel in version.py beside lib/, the C++ distribution in a
// file build-version. The name comes first: Debian's Python package leads to the same library and
// calls it otherwise.
std::optional<std::string> VersionOf(const fs::path& library) {
  const fs::path package = library.parent_path().parent_path();
  if (auto version = VersionInName(library)) return version;
  if (auto version = VersionOfPackage(package / "version.py")) return version;
  return FirstWord(package / "build-version");
}

}  // namespace

Result<TorchLibrary> FindTorch(std::string_view option) {
  const sdk::LibrarySearch search = Search();
  std::vector<std::string> files = sdk::LibraryCandidates(search, option);
  if (option.empty()) {
    for (const fs::path& folder : SystemFolders()) {
      const std::vector<std::string> found = sdk::internal::LibrariesIn(folder, search.stem);
      files.insert(files.end(), found.begin(), found.end());
    }
  }
  if (files.empty() && !option.empty()) return sdk::NotAtPlace(search, option);
  if (files.empty()) {
    return Unavailable("PyTorch was not found; install it with `" + search.install_hint +
                       "`, or name its library with --torch-lib or $TORCH_ROOT");
  }
  const std::optional<std::string> version = VersionOf(files.front());
  if (!version) return Unavailable("the version of '" + files.front() + "' cannot be determined");
  return TorchLibrary{files.front(), *version};
}

}  // namespace vernier
