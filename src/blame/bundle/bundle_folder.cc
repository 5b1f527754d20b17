#include "blame/bundle/bundle_folder.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "io/results/partial_places.h"
#include "util/files/atomic_file.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

// In the order in which an old one is taken away: what makes a bundle of it first. A new one is put
// there in the opposite order.
constexpr std::string_view kParts[] = {kBundleScript, "found", "test_data_set_0", "model.onnx"};
constexpr const char* kWaiting = ".partial";

bool IsPart(const std::string& name) {
  return std::find(std::begin(kParts), std::end(kParts), name) != std::end(kParts);
}

// Renaming such a folder fails, or takes away the working folder of a process.
bool MustStay(const std::string& folder) {
  std::error_code failed;
  const std::string here = fs::current_path(failed).string() + "/";
  if (!failed && here.starts_with(folder + "/")) return true;
  struct stat own = {}, parent = {};
  return ::stat(folder.c_str(), &own) != 0 || ::stat((folder + "/..").c_str(), &parent) != 0 ||
         own.st_dev != parent.st_dev;
}

}  // namespace

bool HasBundle(const std::string& folder) {
  std::error_code ignored;
  const fs::path place(folder);
  return fs::exists(place / kBundleScript, ignored) &&
         fs::exists(place / "found" / "blame.json", ignored);
}

Status CheckBundleFolder(const std::string& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (status.type() == fs::file_type::not_found) return {};
  if (!fs::is_directory(status)) {
    return InvalidArgument("--bundle: '" + folder + "' is not a folder: name a new one");
  }
  const bool has_bundle = HasBundle(folder);
  fs::directory_iterator entry(folder, error);
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (has_bundle && IsPart(name)) continue;
    return InvalidArgument("--bundle: '" + folder + "' holds '" + name +
                           "', which is not part of a bundle: name a new or an empty folder");
  }
  if (!error) return {};
  return InvalidArgument("--bundle: '" + folder + "' cannot be read: " + error.message());
}

Result<BundleFolder> BundleFolder::Create(const std::string& folder) {
  VERNIER_TRY(CheckBundleFolder(folder));
  BundleFolder made;
  std::error_code error;
  made.target_ = fs::weakly_canonical(fs::absolute(folder, error), error).string();
  if (error) return IoError("'" + folder + "': " + error.message());
  while (made.target_.size() > 1 && made.target_.ends_with('/')) made.target_.pop_back();
  made.inside_ = fs::exists(made.target_, error) &&
                 (MustStay(made.target_) || fs::is_empty(made.target_, error));
  const std::string parts =
      made.inside_ ? made.target_ + "/" + kWaiting : FreePlace(made.target_ + kWaiting);
  VERNIER_TRY(CreateDirectories(parts));
  made.parts_ = parts;
  return made;
}

BundleFolder::BundleFolder(BundleFolder&& other) noexcept
    : target_(std::move(other.target_)),
      parts_(std::exchange(other.parts_, {})),
      inside_(other.inside_) {}

BundleFolder::~BundleFolder() {
  std::error_code ignored;
  if (!parts_.empty()) fs::remove_all(parts_, ignored);
}

Status BundleFolder::Publish() const {
  if (!inside_) return ReplaceFolder(parts_, target_);
  std::error_code error;
  const fs::path target(target_), parts(parts_);
  for (const std::string_view part : kParts) {
    if (!error) fs::remove_all(target / part, error);
  }
  for (size_t i = std::size(kParts); i-- > 0;) {
    if (!error) fs::rename(parts / kParts[i], target / kParts[i], error);
  }
  return error ? IoError("'" + target_ + "': " + error.message()) : Status();
}

}  // namespace vernier
