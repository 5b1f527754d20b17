// Weights that an ONNX model keeps in other files: found, checked and opened without following the
// model's text out of its folder. Weights are never read here.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/onnx/onnx_model.h"
#include "vernier/status.h"

namespace vernier {

enum class LinkPolicy : uint8_t {
  /// A symbolic link counts as the file that it leads to, if that file lies in the folder of the
  /// model as named or of the model's own resolved file (caches that store by content).
  kFollowInside,
  /// Symbolic links and files with several hard links are refused.
  kRefuse
};

struct ExternalDataOptions {
  std::string directory;  ///< instead of the model's folder; empty: the model's
  LinkPolicy links = LinkPolicy::kFollowInside;
  /// Locations that begin so name no file: tensors that DetachWeights emptied. Empty: none.
  std::string detached = {};
};

/// A file opened for reading; closed with the object.
class ExternalFile {
 public:
  ExternalFile(int fd, uint64_t size, uint64_t hard_links, std::string path)
      : fd_(fd), size_(size), hard_links_(hard_links), path_(std::move(path)) {}
  ExternalFile(ExternalFile&& other) noexcept;
  ExternalFile& operator=(ExternalFile&& other) noexcept;
  ~ExternalFile();

  int fd() const { return fd_; }
  uint64_t size() const { return size_; }
  uint64_t hard_links() const { return hard_links_; }
  const std::string& path() const { return path_; }  ///< where it was found

 private:
  int fd_;
  uint64_t size_;
  uint64_t hard_links_;
  std::string path_;
};

/// The folder that external data is relative to.
class ExternalFolder {
 public:
  /// kMalformed when the folder does not exist.
  static Result<ExternalFolder> Open(const std::string& model_path,
                                     const ExternalDataOptions& options);

  /// Opens a file that the model names. The kernel confines the look-up to the folder
  /// (openat2), so that nothing can be swapped between check and use. kMalformed when the location
  /// is not a relative path, leaves the folder, or leads to no regular file.
  Result<ExternalFile> OpenFile(std::string_view location) const;

  const std::string& path() const { return named_.path; }

 private:
  struct Directory {
    std::string path;  ///< for messages and link resolution
    std::shared_ptr<const int> fd;
  };
  static Result<Directory> OpenDirectory(std::string path);
  Result<int> OpenThroughLink(const std::string& location) const;

  Directory named_;
  std::vector<Directory> roots_;  ///< canonical folders that a link may lead into
  LinkPolicy links_ = LinkPolicy::kFollowInside;
};

/// Where one tensor's values lie.
struct ExternalSlice {
  std::string location;
  uint64_t offset = 0;
  uint64_t size = 0;
};

struct ExternalFileInfo {
  std::string location;  ///< as the model names it
  std::string path;      ///< where it was found
  uint64_t size = 0;
  uint64_t hard_links = 1;
};

struct ExternalDataReport {
  std::vector<ExternalFileInfo> files;  ///< each once, in the order of first use
  std::vector<ExternalSlice> slices;    ///< one per OnnxModel::external_tensors()
  uint64_t total_bytes = 0;             ///< sum over the slices
};

/// Where in a file of that size the tensor's values lie. kMalformed, without names, when its
/// offset, length or shape make no sense or the file is too short.
Result<ExternalSlice> LocateExternal(const OnnxTensor& tensor, uint64_t file_size);

/// Checks every external tensor of the model: its file (see ExternalFolder), that offset and length
/// lie within it, and that the length is what dtype and dims need. kMalformed, one sentence that
/// names the tensor and the file. A model without external data gives an empty report.
Result<ExternalDataReport> CheckExternalData(const OnnxModel& model,
                                             const ExternalDataOptions& options);

}  // namespace vernier
