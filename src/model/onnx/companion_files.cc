#include "model/onnx/companion_files.h"

#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "model/onnx/onnx_model.h"

namespace vernier {

namespace fs = std::filesystem;

std::vector<std::string> CompanionFiles(const std::string& model_path,
                                        const std::string& external_dir) {
  const fs::path path(model_path);
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return {};
  if (path.extension() == ".xml") return {fs::path(path).replace_extension(".bin").string()};
  const Result<OnnxModel> model = OnnxModel::Open(model_path);
  if (!model.ok()) return {};
  const fs::path folder = external_dir.empty() ? path.parent_path() : fs::path(external_dir);
  std::set<std::string_view> locations;
  std::vector<std::string> files;
  for (const OnnxTensor& tensor : model->external_tensors()) {
    if (!locations.insert(tensor.location).second) continue;
    files.push_back((folder / tensor.location).string());
  }
  return files;
}

}  // namespace vernier
