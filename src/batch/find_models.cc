#include "batch/find_models.h"

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>
#include <system_error>

namespace vernier {
namespace {

namespace fs = std::filesystem;

// More than a path can have.
constexpr size_t kMostFolders = 4096;

std::vector<std::string> Expand(const std::string& word) {
  std::error_code ignored;
  if (fs::exists(word, ignored)) return {word};
  glob_t found{};
  std::vector<std::string> paths;
  if (::glob(word.c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  return paths;
}

// A folder that holds models and is none itself.
bool HoldsModels(const fs::path& path) {
  std::error_code failed;
  if (!fs::is_directory(path, failed) || fs::exists(path / "saved_model.pb", failed)) return false;
  return std::any_of(fs::directory_iterator(path, failed), fs::directory_iterator(),
                     [](const fs::directory_entry& e) { return e.path().extension() == ".onnx"; });
}

// Without a slash at its end, from the root.
fs::path FullPath(const std::string& path) {
  std::error_code ignored;
  fs::path full = fs::absolute(path, ignored).lexically_normal();
  return full.has_filename() ? full : full.parent_path();
}

// The last `folders` folders of the path, and the name.
std::string NameInFolders(const fs::path& path, const std::string& name, size_t folders) {
  std::string text = name;
  for (fs::path folder = path.parent_path(); folders > 0; --folders) {
    if (!folder.has_filename()) break;
    text.insert(0, folder.filename().string() + "__");
    folder = folder.parent_path();
  }
  return text;
}

// Names that do not depend on the order of the models: those of one stem in one folder have their
// extension, and those that clash have as many folders before them as distinguish all of them.
Status NameApart(std::vector<BatchModel>& models) {
  std::vector<fs::path> paths;
  std::map<fs::path, int> alike;
  for (const BatchModel& model : models) {
    const fs::path& path = paths.emplace_back(FullPath(model.path));
    ++alike[path.parent_path() / path.stem()];
  }
  std::vector<size_t> clashing(models.size());
  std::iota(clashing.begin(), clashing.end(), size_t{0});
  for (size_t folders = 0; !clashing.empty(); ++folders) {
    std::map<std::string, std::vector<size_t>> named;
    for (size_t i = 0; i < models.size(); ++i) {
      const fs::path& path = paths[i];
      const bool twins = alike[path.parent_path() / path.stem()] > 1;
      if (std::ranges::find(clashing, i) != clashing.end()) {
        models[i].stem =
            NameInFolders(path, (twins ? path.filename() : path.stem()).string(), folders);
      }
      named[models[i].stem].push_back(i);
    }
    clashing.clear();
    for (const auto& [name, places] : named) {
      if (places.size() < 2) continue;
      if (folders > kMostFolders) {
        return Malformed("'" + models[places[0]].path + "' and '" + models[places[1]].path +
                         "' would both be called '" + name + "'; run them in batches of their own");
      }
      clashing.insert(clashing.end(), places.begin(), places.end());
    }
  }
  return {};
}

}  // namespace

Result<std::vector<BatchModel>> FindBatchModels(std::span<const std::string> words) {
  std::vector<BatchModel> models;
  std::set<fs::path> seen;
  for (const std::string& word : words) {
    const std::vector<std::string> paths = Expand(word);
    if (paths.empty()) return Malformed("no file matches '" + word + "'");
    for (const std::string& path : paths) {
      if (!HoldsModels(path)) continue;
      return Malformed("'" + path +
                       "' is a folder, and folders are not searched: for the models in it give '" +
                       (fs::path(path) / "*.onnx").string() + "'");
    }
    for (const std::string& path : paths) {
      if (seen.insert(FullPath(path)).second) models.push_back({path, ""});
    }
  }
  VERNIER_TRY(NameApart(models));
  return models;
}

}  // namespace vernier
