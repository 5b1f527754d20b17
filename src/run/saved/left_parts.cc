#include "run/saved/left_parts.h"

#include <fcntl.h>

#include <filesystem>
#include <system_error>

#include "io/results/partial_folder.h"
#include "io/results/partial_places.h"
#include "run/parts/begun_parts.h"
#include "util/files/file_lock.h"
#include "util/files/unique_fd.h"

namespace vernier {
namespace {

void RemoveLeftFolders(const std::string& saved) {
  if (saved.empty()) return;
  const std::string target = WithoutTrailingSlashes(saved);
  for (const std::string& folder : PartsBeside(target)) {
    const std::string manifest = folder + "/" + kManifestName;
    const UniqueFd file(::open(manifest.c_str(), O_RDONLY | O_CLOEXEC));
    const bool left = file.valid() && TakeFileLock(file.get()) == FileLock::kOurs;
    if (left) RemoveParts(folder, target);
  }
}

}  // namespace

void RemoveParts(const std::string& path, const std::string& target) {
  RemovePartialFolder(path);
  const std::string own = path.substr(0, path.rfind(kPartialSuffix));
  std::error_code ignored;
  if (own.starts_with(target + kResumedSuffix)) std::filesystem::remove_all(own, ignored);
}

void RemoveLeftOfShard(const SavePlan& save) {
  RemoveLeftFolders(save.inputs);
  RemoveLeftFolders(save.outputs);
  if (!save.rows.empty()) RemoveLeftParts(save.rows);
}

}  // namespace vernier
