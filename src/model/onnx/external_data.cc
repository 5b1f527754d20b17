#include "model/onnx/external_data.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <unordered_map>
#include <utility>

#include "util/text/number_text.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

// O_NONBLOCK: a pipe without a writer must not hang.
constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

int OpenAt2(int directory, const std::string& path, uint64_t resolve) {
  open_how how{};
  how.flags = kOpenFlags;
  how.resolve = resolve;
  // EAGAIN: something was renamed during the look-up, so that the kernel could not be sure.
  for (int attempt = 0; attempt < 100; ++attempt) {
    const long fd = ::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof(how));
    if (fd >= 0 || errno != EAGAIN) return static_cast<int>(fd);
  }
  return -1;
}

// Old kernels and some sandboxes have no openat2.
bool MustDoWithoutOpenAt2(int error) { return error == ENOSYS || error == EPERM; }

// The end of a sentence that begins with a file's name.
std::string OpenFailure(int error) {
  if (error == ENOENT) return "does not exist; --external-data-dir names the folder that has it";
  return std::string("cannot be opened: ") + std::strerror(error);
}

std::string PathOfDescriptor(int fd) {
  std::string buffer(4096, '\0');
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t size = ::readlink(link.c_str(), buffer.data(), buffer.size());
  buffer.resize(size < 0 ? 0 : static_cast<size_t>(size));
  return buffer;
}

std::string RealPath(const std::string& path) {
  char* const resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return {};
  std::string text(resolved);
  std::free(resolved);
  return text;
}

std::string ParentOf(const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

// The part of `path` below `root`; empty if it is not below.
std::string Below(const std::string& root, const std::string& path) {
  const std::string prefix = root.ends_with('/') ? root : root + "/";
  return path.starts_with(prefix) ? path.substr(prefix.size()) : std::string();
}

bool LeavesFolder(std::string_view location) {
  int depth = 0;
  for (const fs::path& part : fs::path(location)) {
    if (part == "..") {
      if (--depth < 0) return true;
    } else if (part != "." && !part.empty()) {
      ++depth;
    }
  }
  return false;
}

// What is wrong with the text of a location; empty if nothing.
std::string LocationFault(std::string_view location) {
  if (location.empty()) return "the model names no file for it";
  if (location.find('\0') != std::string_view::npos) return "the name holds a NUL byte";
  if (location.find('\\') != std::string_view::npos) {
    return "the name holds a backslash, where ONNX wants '/'";
  }
  if (location.front() == '/') return "external data must be a path relative to the model";
  if (LeavesFolder(location)) return "it escapes the model's folder";
  return {};
}

}  // namespace

ExternalFile::ExternalFile(ExternalFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      size_(other.size_),
      hard_links_(other.hard_links_),
      path_(std::move(other.path_)) {}

ExternalFile& ExternalFile::operator=(ExternalFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(size_, other.size_);
  std::swap(hard_links_, other.hard_links_);
  std::swap(path_, other.path_);
  return *this;
}

ExternalFile::~ExternalFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<ExternalFolder::Directory> ExternalFolder::OpenDirectory(std::string path) {
  const int fd = ::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) {
    return Malformed("'" + path + "', the folder of the model's external data, cannot be opened: " +
                     std::strerror(errno));
  }
  std::shared_ptr<const int> owner(new int(fd), [](const int* p) {
    ::close(*p);
    delete p;
  });
  return Directory{std::move(path), std::move(owner)};
}

Result<ExternalFolder> ExternalFolder::Open(const std::string& model_path,
                                            const ExternalDataOptions& options) {
  ExternalFolder folder;
  folder.links_ = options.links;
  const bool own = options.directory.empty();
  VERNIER_ASSIGN_OR_RETURN(folder.named_,
                           OpenDirectory(own ? ParentOf(model_path) : options.directory));
  std::vector<std::string> roots = {RealPath(folder.named_.path)};
  if (own) roots.push_back(ParentOf(RealPath(model_path)));
  for (const std::string& root : roots) {
    if (!root.starts_with('/')) continue;
    VERNIER_ASSIGN_OR_RETURN(Directory directory, OpenDirectory(root));
    folder.roots_.push_back(std::move(directory));
  }
  return folder;
}

// The kernel refused a link that leaves the named folder. The place that it leads to is opened
// below one of the allowed folders, with no further link allowed on the way.
Result<int> ExternalFolder::OpenThroughLink(const std::string& location) const {
  const std::string target = RealPath(named_.path + "/" + location);
  if (target.empty()) return Malformed(OpenFailure(errno));
  for (const Directory& root : roots_) {
    if (target == root.path) return Malformed("is not a regular file");
    const std::string relative = Below(root.path, target);
    if (relative.empty()) continue;
    int fd =
        OpenAt2(*root.fd, relative, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS);
    if (fd < 0 && MustDoWithoutOpenAt2(errno)) {
      fd = ::openat(*root.fd, relative.c_str(), kOpenFlags | O_NOFOLLOW);
    }
    if (fd < 0) return Malformed(OpenFailure(errno));
    // Without openat2 a folder on the way may have been swapped for a link.
    if (Below(root.path, PathOfDescriptor(fd)) == relative) return fd;
    ::close(fd);
  }
  return Malformed("cannot be used: it escapes the model's folder: it leads to '" + target + "'");
}

Result<ExternalFile> ExternalFolder::OpenFile(std::string_view location_text) const {
  const std::string location(location_text);
  const std::string name = "'" + location + "' in '" + named_.path + "'";
  if (std::string fault = LocationFault(location); !fault.empty()) {
    return Malformed(QuotePython(location) + " cannot be used: " + fault);
  }
  const bool strict = links_ == LinkPolicy::kRefuse;
  const uint64_t resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  int fd = OpenAt2(*named_.fd, location, resolve | (strict ? RESOLVE_NO_SYMLINKS : 0u));
  const int error = fd < 0 ? errno : 0;
  if (strict && error == ELOOP) {
    return Malformed(name + " is a symbolic link, which --strict-external-data refuses");
  }
  if (error == EXDEV || error == ELOOP || MustDoWithoutOpenAt2(error)) {
    Result<int> linked = OpenThroughLink(location);
    if (!linked.ok()) return Malformed(name + " " + linked.status().message());
    fd = *linked;
  } else if (fd < 0) {
    return Malformed(name + " " + OpenFailure(error));
  }
  struct stat info {};
  const bool regular = ::fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  ExternalFile file(fd, regular ? static_cast<uint64_t>(info.st_size) : 0,
                    static_cast<uint64_t>(info.st_nlink), PathOfDescriptor(fd));
  if (!regular) return Malformed(name + " is not a regular file");
  if (strict && MustDoWithoutOpenAt2(error) &&
      file.path() != RealPath(named_.path) + "/" + location) {
    return Malformed(name + " is a symbolic link, which --strict-external-data refuses");
  }
  if (strict && file.hard_links() > 1) {
    return Malformed(name + " has several hard links, which --strict-external-data refuses");
  }
  return file;
}

namespace {

struct Extent {
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

Result<Extent> ReadExtent(const OnnxTensor& tensor) {
  Extent extent;
  const auto parse = [](std::string_view text) -> std::optional<uint64_t> {
    const std::optional<int64_t> number = ParseInt(text);
    if (!number || *number < 0) return std::nullopt;
    return static_cast<uint64_t>(*number);
  };
  if (!tensor.offset.empty()) {
    const std::optional<uint64_t> offset = parse(tensor.offset);
    if (!offset) return Malformed("its offset is " + QuotePython(tensor.offset));
    extent.offset = *offset;
  }
  if (!tensor.length.empty()) {
    extent.length = parse(tensor.length);
    if (!extent.length) return Malformed("its length is " + QuotePython(tensor.length));
  }
  return extent;
}

std::optional<uint64_t> NeededBytes(const OnnxTensor& tensor) {
  const std::optional<int64_t> count = ElementCount(tensor.dims);
  if (!count) return std::nullopt;
  return ByteSize(tensor.dtype, static_cast<uint64_t>(*count));
}

}  // namespace

Result<ExternalSlice> LocateExternal(const OnnxTensor& tensor, uint64_t file_size) {
  VERNIER_ASSIGN_OR_RETURN(const Extent extent, ReadExtent(tensor));
  if (!ElementCount(tensor.dims)) {
    return Malformed("its shape " + FormatDims(tensor.dims) + " is impossible");
  }
  if (tensor.dtype == DType::kString) return Malformed("strings cannot be external data");
  const uint64_t rest = extent.offset <= file_size ? file_size - extent.offset : 0;
  // A type that vernier does not know: whatever the file says.
  const uint64_t needed = NeededBytes(tensor).value_or(extent.length.value_or(rest));
  if (extent.length.value_or(needed) != needed) {
    return Malformed("the model gives it " + std::to_string(*extent.length) + " bytes, but " +
                     std::string(DTypeName(tensor.dtype)) + " " + FormatDims(tensor.dims) +
                     " needs " + std::to_string(needed));
  }
  if (extent.offset > file_size || needed > rest) {
    return Malformed("the file is too short: " + std::to_string(needed) + " bytes at offset " +
                     std::to_string(extent.offset) + " are needed, it has " +
                     std::to_string(file_size));
  }
  return ExternalSlice{std::string(tensor.location), extent.offset, needed};
}

Result<ExternalDataReport> CheckExternalData(const OnnxModel& model,
                                             const ExternalDataOptions& options) {
  ExternalDataReport report;
  if (model.external_tensors().empty()) return report;
  VERNIER_ASSIGN_OR_RETURN(const ExternalFolder folder,
                           ExternalFolder::Open(model.path(), options));
  std::unordered_map<std::string_view, size_t> known;
  for (const OnnxTensor& tensor : model.external_tensors()) {
    if (!options.detached.empty() && tensor.location.starts_with(options.detached)) {
      report.slices.emplace_back();
      continue;
    }
    const std::string tensor_name = QuotePython(tensor.name);
    const auto [place, added] = known.try_emplace(tensor.location, report.files.size());
    if (added) {
      Result<ExternalFile> file = folder.OpenFile(tensor.location);
      if (!file.ok()) {
        return std::move(file).status().Annotate("'" + model.path() +
                                                 "': external data of tensor " + tensor_name);
      }
      report.files.push_back(
          {std::string(tensor.location), file->path(), file->size(), file->hard_links()});
    }
    const ExternalFileInfo& info = report.files[place->second];
    Result<ExternalSlice> slice = LocateExternal(tensor, info.size);
    if (!slice.ok()) {
      return std::move(slice).status().Annotate("'" + model.path() + "': tensor " + tensor_name +
                                                " in '" + info.location + "'");
    }
    report.total_bytes += slice->size;
    report.slices.push_back(*std::move(slice));
  }
  return report;
}

}  // namespace vernier
