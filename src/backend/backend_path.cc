#include "backend/backend_path.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace vernier {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "libvernier_backend_";
constexpr std::string_view kSuffix = ".so";

std::optional<std::string> BackendNameOf(const std::string& file) {
  const std::string_view name = file;
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  return std::string(name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size()));
}

void AppendColonSeparated(std::string_view text, std::vector<std::string>& out) {
  while (!text.empty()) {
    const size_t colon = std::min(text.find(':'), text.size());
    if (colon > 0) out.emplace_back(text.substr(0, colon));
    text.remove_prefix(std::min(colon + 1, text.size()));
  }
}

}  // namespace

std::vector<std::string> BackendSearchPath(const std::vector<std::string>& extra) {
  std::vector<std::string> path = extra;
  if (const char* variable = std::getenv("VERNIER_BACKEND_PATH")) {
    AppendColonSeparated(variable, path);
  }
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    path.push_back((executable.parent_path().parent_path() / "lib/vernier/backends").string());
  }
  return path;
}

std::vector<BackendFile> ListBackends(const std::vector<std::string>& search_path) {
  std::vector<BackendFile> backends;
  for (const std::string& folder : search_path) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
      const std::optional<std::string> name = BackendNameOf(entry.path().filename().string());
      if (!name) continue;
      const bool known = std::any_of(backends.begin(), backends.end(),
                                     [&](const BackendFile& b) { return b.name == *name; });
      if (!known) backends.push_back({*name, entry.path().string()});
    }
  }
  std::sort(backends.begin(), backends.end(),
            [](const BackendFile& a, const BackendFile& b) { return a.name < b.name; });
  return backends;
}

Result<BackendFile> FindBackend(std::string_view name,
                                const std::vector<std::string>& search_path) {
  for (BackendFile& backend : ListBackends(search_path)) {
    if (backend.name == name) return std::move(backend);
  }
  std::string looked;
  for (const std::string& folder : search_path) looked += (looked.empty() ? "" : ", ") + folder;
  return Unavailable("there is no backend '" + std::string(name) +
                     "' in this installation (looked in: " + looked + ")");
}

}  // namespace vernier
