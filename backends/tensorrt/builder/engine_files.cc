#include "tensorrt/builder/engine_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tensorrt/library/option_words.h"

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

// Merges what the file holds into the build's timings, and writes all of them.
Status SaveTimings(const BuildConfig& build, const std::string& path, std::string_view option,
                   Logger& logger) {
  nvinfer1::IBuilderConfig& config = *build.config;
  auto* const cache = const_cast<nvinfer1::ITimingCache*>(config.getTimingCache());
  if (cache == nullptr) return BackendError(std::string(option) + ": TensorRT kept no timings");
  std::error_code error;
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty()) fs::create_directories(folder, error);
  const FileLock lock(path);
  KeptTimings* const kept = build.kept_timings;
  const bool known =
      kept != nullptr && kept->saved.contains(path) && kept->saved[path] == FileState::Of(path);
  if (!known) VERNIER_TRY(MergeTimings(path, option, config, *cache, logger));
  const Owned<nvinfer1::IHostMemory> memory(cache->serialize());
  if (memory == nullptr) return BackendError("TensorRT could not serialize its timing cache");
  VERNIER_TRY(SaveFile(path, {static_cast<const std::byte*>(memory->data()), memory->size()}));
  if (kept != nullptr) kept->saved[path] = FileState::Of(path);
  return {};
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

std::string SharedTimings(const sdk::Options& options, std::string_view version,
                          std::string_view device) {
  const auto folder = ValueOf(options, "timing_cache_dir");
  if (!folder) return ValueOf(options, "command_timings").value_or("");
  std::string name = "tensorrt-" + std::string(version) + "-" + std::string(device) + ".timings";
  for (char& c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-';
    if (!plain) c = '_';
  }
  return (fs::path(*folder) / name).string();
}

Status MergeTimings(const std::string& path, std::string_view option,
                    const nvinfer1::IBuilderConfig& config, nvinfer1::ITimingCache& cache,
                    Logger& logger) {
  std::error_code error;
  if (!fs::exists(path, error) || fs::file_size(path, error) == 0) return {};
  VERNIER_ASSIGN_OR_RETURN(const std::string old, ReadWhole(path));
  const Owned<nvinfer1::ITimingCache> previous(config.createTimingCache(old.data(), old.size()));
  if (previous == nullptr || !cache.combine(*previous, /*ignoreMismatch=*/true)) {
    logger.host().Warning(
        std::string(option) + ": '" + path +
        "' holds timings that cannot be merged, and is replaced: " + logger.TakeError());
  }
  return {};
}

Status SaveTimingCache(const BuildConfig& build, const sdk::Options& options, Logger& logger) {
  if (const auto path = ValueOf(options, "save_timing_cache")) {
    logger.host().Info("Saving timing cache to " + *path);
    VERNIER_TRY(SaveTimings(build, *path, "--save-timing-cache", logger));
  }
  if (build.shared_timings.empty()) return {};
  if (ValueOf(options, "timing_cache_dir")) {
    logger.host().Info("Saving timing cache to " + build.shared_timings);
  }
  return SaveTimings(build, build.shared_timings, kTimingCacheDir, logger);
}

}  // namespace vernier::trt
