#include "batch/find_models.h"

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

namespace vernier {
namespace {

namespace fs = std::filesystem;

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

// The stem, with a number behind it where another model has that name.
std::string Unique(const std::string& stem, std::set<std::string>& taken) {
  std::string name = stem;
  for (int number = 2; !taken.insert(name).second; ++number) {
    name = stem + "-" + std::to_string(number);
  }
  return name;
}

}  // namespace

Result<std::vector<BatchModel>> FindBatchModels(std::span<const std::string> words) {
  std::vector<BatchModel> models;
  std::set<std::string> seen;
  std::set<std::string> stems;
  for (const std::string& word : words) {
    const std::vector<std::string> paths = Expand(word);
    if (paths.empty()) return Malformed("no file matches '" + word + "'");
    for (const std::string& path : paths) {
      if (!HoldsModels(path)) continue;
      return Malformed("'" + path +
                       "' is a folder, which is not searched: for the models in it give '" +
                       (fs::path(path) / "*.onnx").string() + "'");
    }
    for (const std::string& path : paths) {
      if (!seen.insert(fs::path(path).lexically_normal().string()).second) continue;
      fs::path name = fs::path(path).lexically_normal();
      if (!name.has_filename()) name = name.parent_path();  // a folder with a slash behind it
      models.push_back({path, Unique(name.stem().string(), stems)});
    }
  }
  return models;
}

}  // namespace vernier
