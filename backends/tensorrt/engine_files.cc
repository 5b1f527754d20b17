#include "engine_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "option_words.h"

namespace vernier::trt {
namespace {

namespace fs = std::filesystem;

Status WriteAll(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return IoError(std::strerror(errno));
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return ::fsync(file) == 0 ? Status() : IoError(std::strerror(errno));
}

}  // namespace

// Written under another name and renamed: whoever reads meanwhile finds the old file.
Status SaveFile(const std::string& path, std::span<const std::byte> bytes) {
  const fs::path target(path);
  std::error_code error;
  if (target.has_parent_path()) fs::create_directories(target.parent_path(), error);
  const std::string temporary = path + "." + std::to_string(::getpid()) + ".tmp";
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  Status status = file < 0 ? IoError(std::strerror(errno)) : WriteAll(file, bytes);
  if (file >= 0) ::close(file);
  if (status.ok() && std::rename(temporary.c_str(), path.c_str()) != 0) {
    status = IoError(std::strerror(errno));
  }
  if (!status.ok()) ::unlink(temporary.c_str());
  return std::move(status).Annotate("'" + path + "' cannot be written");
}

FileLock::FileLock(const std::string& path)
    : file_(::open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  while (file_ >= 0 && ::flock(file_, LOCK_EX) != 0 && errno == EINTR) {
  }
}

FileLock::~FileLock() {
  if (file_ >= 0) ::close(file_);
}

Result<std::string> ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  if (!file) return Malformed("'" + path + "' cannot be read");
  if (bytes.empty()) return Malformed("'" + path + "' is empty");
  return bytes;
}

Status SaveEngine(const nvinfer1::IHostMemory& plan, const sdk::Options& options, Logger& logger) {
  const auto path = ValueOf(options, "save_engine");
  if (!path) return {};
  logger.host().Info("Saving engine to " + *path);
  return SaveFile(*path, {static_cast<const std::byte*>(plan.data()), plan.size()});
}

Status SaveTimingCache(const BuildConfig& build, const sdk::Options& options, Logger& logger) {
  const auto path = ValueOf(options, "save_timing_cache");
  if (!path) return {};
  nvinfer1::IBuilderConfig& config = *build.config;
  auto* const cache = const_cast<nvinfer1::ITimingCache*>(config.getTimingCache());
  if (cache == nullptr) return BackendError("--save-timing-cache: TensorRT kept no timings");
  const FileLock lock(*path);
  std::error_code error;
  KeptTimings* const kept = build.kept_timings;
  const bool known = kept != nullptr && kept->saved && kept->saved == FileState::Of(*path);
  if (!known && fs::exists(*path, error) && fs::file_size(*path, error) > 0) {
    VERNIER_ASSIGN_OR_RETURN(const std::string old, ReadWhole(*path));
    const Owned<nvinfer1::ITimingCache> previous(config.createTimingCache(old.data(), old.size()));
    if (previous == nullptr || !cache->combine(*previous, /*ignoreMismatch=*/true)) {
      logger.host().Warning(
          "--save-timing-cache: '" + *path +
          "' holds timings that cannot be merged, and is replaced: " + logger.TakeError());
    }
  }
  const Owned<nvinfer1::IHostMemory> memory(cache->serialize());
  if (memory == nullptr) return BackendError("TensorRT could not serialize its timing cache");
  logger.host().Info("Saving timing cache to " + *path);
  VERNIER_TRY(SaveFile(*path, {static_cast<const std::byte*>(memory->data()), memory->size()}));
  if (kept != nullptr) kept->saved = FileState::Of(*path);
  return {};
}

}  // namespace vernier::trt
