#include "run/saved/input_blobs.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <map>
#include <span>
#include <string_view>

#include "util/files/atomic_file.h"
#include "util/files/mapped_file.h"
#include "util/files/paths.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

bool HoldsBytes(const std::string& path, std::span<const std::byte> bytes) {
  const auto file = MappedFile::Open(path);
  return file.ok() && std::ranges::equal((*file)->bytes(), bytes) && (*file)->CheckIntact().ok();
}

// The index that names an iteration's folder.
std::string IterationName(int64_t index) {
  char name[24];
  std::snprintf(name, sizeof(name), "%010lld", static_cast<long long>(index));
  return name;
}

// By the file that each is saved to.
Result<std::map<fs::path, const NamedTensor*>> FilesOf(const fs::path& folder,
                                                       const TensorMap& feed) {
  std::map<fs::path, const NamedTensor*> files;
  for (const NamedTensor& input : feed) {
    const fs::path file = (folder / (input.name + ".bin")).lexically_normal();
    const fs::path relative = file.lexically_relative(folder.lexically_normal());
    if (relative.empty() || *relative.begin() == "..") {
      return InvalidArgument("Cannot save raw input tensor named '" + input.name +
                             "': the name resolves to a path outside of '" + folder.string() + "'");
    }
    if (const auto [other, free] = files.emplace(file, &input); !free) {
      return InvalidArgument("--save-input-blob: inputs '" + other->second->name + "' and '" +
                             input.name + "' would both be saved as '" + file.string() +
                             "'; --save-inputs saves inputs of any names");
    }
  }
  return files;
}

}  // namespace

Result<InputBlobs> InputBlobs::Create(const SavePlan& plan, Logger& logger) {
  logger.Info("Saving raw inference input tensors to: " + plan.input_blobs);
  VERNIER_TRY(CreateDirectories(plan.input_blobs));
  return InputBlobs(plan, logger);
}

Result<std::string> InputBlobs::Add(int64_t number, const TensorMap& feed) const {
  const fs::path folder = fs::path(folder_) / IterationName(number);
  VERNIER_TRY(CreateDirectories(folder.string()));
  VERNIER_ASSIGN_OR_RETURN(const auto files, FilesOf(folder, feed));
  for (const auto& [file, input] : files) {
    const std::span<const std::byte> bytes = input->tensor.bytes();
    std::error_code failed;
    if (resumes_ && fs::exists(file, failed)) {
      if (HoldsBytes(file.string(), bytes)) continue;
      return file.string();
    }
    VERNIER_ASSIGN_OR_RETURN(AtomicFile output, AtomicFile::Create(file.string()));
    VERNIER_TRY(output.Write(bytes));
    VERNIER_TRY(output.Commit());
  }
  logger_->Verbose("Saved raw inference input tensors to: " + folder.string());
  return std::string();
}

}  // namespace vernier
