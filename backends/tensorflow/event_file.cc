#include "event_file.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "proto_bytes.h"

namespace vernier::tf {
namespace {

namespace fs = std::filesystem;

// Fields of Event (tensorflow/core/util/event.proto).
constexpr uint32_t kWallTime = 1, kFileVersion = 3, kGraphDef = 4;

// CRC-32C, which protects the records of an events file.
uint32_t Crc32c(std::string_view bytes) {
  static const std::array<uint32_t, 256> kTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < table.size(); ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0x82f63b78u : 0);
      table[i] = value;
    }
    return table;
  }();
  uint32_t crc = ~0u;
  for (const char c : bytes) crc = kTable[(crc ^ static_cast<uint8_t>(c)) & 0xff] ^ crc >> 8;
  return ~crc;
}

// A checksum of data that holds checksums is weak, so TensorFlow rotates and shifts it.
uint32_t MaskedCrc(std::string_view bytes) {
  const uint32_t crc = Crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

template <typename T>
void AppendNumber(T value, std::string& out) {
  char raw[sizeof(value)];
  std::memcpy(raw, &value, sizeof(value));
  out.append(raw, sizeof(raw));
}

// TFRecord: length, its checksum, the data, its checksum.
void AppendRecord(std::string_view data, std::string& out) {
  std::string length;
  AppendNumber(static_cast<uint64_t>(data.size()), length);
  out += length;
  AppendNumber(MaskedCrc(length), out);
  out += data;
  AppendNumber(MaskedCrc(data), out);
}

}  // namespace

Status WriteWhole(const std::string& path, std::string_view bytes) {
  std::error_code error;
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty()) fs::create_directories(folder, error);
  const std::string temporary = path + "." + std::to_string(::getpid()) + ".tmp";
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file.good()) fs::rename(temporary, path, error);
  if (file.good() && !error) return {};
  const std::string why = error ? error.message() : std::strerror(errno);
  fs::remove(temporary, error);
  return Status(StatusCode::kIo, "'" + path + "' cannot be written: " + why);
}

Result<std::string> WriteGraphEvents(const std::string& folder, std::string_view graph_def) {
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  std::string file;
  AppendRecord(ProtoWriter().Double(kWallTime, now).Bytes(kFileVersion, "brain.Event:2").bytes(),
               file);
  AppendRecord(ProtoWriter().Double(kWallTime, now).Bytes(kGraphDef, graph_def).bytes(), file);
  char host[256] = "localhost";
  ::gethostname(host, sizeof(host) - 1);
  const std::string path = folder + "/events.out.tfevents." +
                           std::to_string(static_cast<int64_t>(now)) + "." +
                           std::to_string(::getpid()) + "." + host;
  VERNIER_TRY(WriteWhole(path, file));
  return path;
}

}  // namespace vernier::tf
