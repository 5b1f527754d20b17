#include "engine_files.h"

#include <fcntl.h>
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

// Written under another name and renamed: whoever reads meanwhile finds the old file.
Status Save(const std::string& path, std::span<const std::byte> bytes) {
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

}  // namespace

Result<std::string> ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(file), {});
  if (!file) return Malformed("'" + path + "' cannot be read");
  if (bytes.empty()) return Malformed("'" + path + "' is empty");
  return bytes;
}

Status SaveEngineFiles(const nvinfer1::IHostMemory& plan, std::span<const std::byte> timing_cache,
                       const sdk::Options& options, Logger& logger) {
  if (const auto path = ValueOf(options, "save_engine")) {
    logger.host().Info("Saving engine to " + *path);
    VERNIER_TRY(Save(*path, {static_cast<const std::byte*>(plan.data()), plan.size()}));
  }
  if (const auto path = ValueOf(options, "save_timing_cache")) {
    logger.host().Info("Saving timing cache to " + *path);
    VERNIER_TRY(Save(*path, timing_cache));
  }
  return {};
}

}  // namespace vernier::trt
