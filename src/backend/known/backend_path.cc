#include "backend/known/backend_path.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "util/process/own_program.h"
#include "util/values/joined.h"

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

// 10 of "tensorrt_10" for "tensorrt".
std::optional<int> MajorOf(std::string_view backend, std::string_view name) {
  if (!backend.starts_with(name) || backend.size() < name.size() + 2) return std::nullopt;
  if (backend[name.size()] != '_') return std::nullopt;
  const std::string_view digits = backend.substr(name.size() + 1);
  int major = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), major);
  const bool number = error == std::errc() && end == digits.data() + digits.size();
  return number ? std::optional(major) : std::nullopt;
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
  const fs::path prefix = OwnPrefix();
  if (!prefix.empty()) path.push_back((prefix / "lib/vernier/backends").string());
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

Result<std::vector<std::string>> FindBackend(std::string_view name,
                                             const std::vector<std::string>& search_path) {
  std::vector<std::pair<int, std::string>> versions;
  for (BackendFile& backend : ListBackends(search_path)) {
    if (backend.name == name) return std::vector<std::string>{std::move(backend.path)};
    const std::optional<int> major = MajorOf(backend.name, name);
    if (major) versions.emplace_back(*major, std::move(backend.path));
  }
  if (!versions.empty()) {
    std::sort(versions.rbegin(), versions.rend());
    std::vector<std::string> paths;
    for (auto& [major, path] : versions) paths.push_back(std::move(path));
    return paths;
  }
  return Unavailable("there is no backend '" + std::string(name) +
                     "' in this installation (looked in: " + Joined(search_path) +
                     "): docs/building.md says how to build its plug-in");
}

}  // namespace vernier
