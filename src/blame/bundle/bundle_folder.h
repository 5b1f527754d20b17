// Where a bundle goes: a folder that is empty, or an older bundle, which it replaces as a whole.
#pragma once

#include <string>

#include "vernier/status.h"

namespace vernier {

inline constexpr const char* kBundleScript = "repro.sh";

/// Whether a folder holds a bundle, of whatever search.
bool HasBundle(const std::string& folder);

/// kInvalidArgument, in one sentence, if no bundle may be written: the path is not a folder, or
/// contains something that is not part of a bundle.
Status CheckBundleFolder(const std::string& folder);

/// A place for the parts of a new bundle until all are there. Destruction removes what was not
/// published.
class BundleFolder {
 public:
  /// `folder` is where the bundle will be. kInvalidArgument as CheckBundleFolder; kIo.
  static Result<BundleFolder> Create(const std::string& folder);

  BundleFolder(BundleFolder&& other) noexcept;
  BundleFolder& operator=(BundleFolder&& other) = delete;
  ~BundleFolder();

  /// An empty folder: the parts are to be written into it.
  const std::string& path() const { return parts_; }

  /// Puts the parts where the bundle is to be; an older bundle there is removed. kIo: the older
  /// one is still there, or, where a folder cannot be renamed (the working directory, the root of
  /// a file system), there is none.
  Status Publish() const;

 private:
  BundleFolder() = default;

  std::string target_;  ///< without links
  std::string parts_;
  bool inside_ = false;  ///< the parts wait in the target, which is no folder to be renamed
};

}  // namespace vernier
