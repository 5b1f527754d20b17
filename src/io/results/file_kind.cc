#include "io/results/file_kind.h"

#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "util/files/input_file.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

constexpr std::array<std::pair<std::string_view, FileKind>, 5> kExtensions = {{
    {".json", FileKind::kJson},
    {".npz", FileKind::kNpz},
    {".npy", FileKind::kNpy},
    {".safetensors", FileKind::kSafetensors},
    {".pb", FileKind::kProtobuf},
}};

std::optional<FileKind> KindOfExtension(const std::string& path) {
  const std::string extension = ToLower(std::filesystem::path(path).extension().string());
  for (const auto& [known, kind] : kExtensions) {
    if (extension == known) return kind;
  }
  return std::nullopt;
}

}  // namespace

Result<FileKind> DetectFileKind(const std::string& path) {
  if (const auto kind = KindOfExtension(path)) return *kind;
  VERNIER_ASSIGN_OR_RETURN(const auto file, InputFile::Open(path));
  std::string start(static_cast<size_t>(std::min<uint64_t>(file->size(), 16)), '\0');
  const Status read =
      file->ReadAt(0, std::as_writable_bytes(std::span(start.data(), start.size())));
  if (!read.ok()) return Status(read).Annotate("'" + path + "'");
  if (start.starts_with("PK\x03\x04") || start.starts_with("PK\x05\x06")) return FileKind::kNpz;
  if (start.starts_with("\x93NUMPY")) return FileKind::kNpy;
  if (start.size() > 8 && start[8] == '{' && start[7] == '\0') return FileKind::kSafetensors;
  return FileKind::kJson;
}

FileKind FileKindForWriting(const std::string& path) {
  const auto kind = KindOfExtension(path);
  return kind == FileKind::kNpz || kind == FileKind::kSafetensors ? *kind : FileKind::kJson;
}

bool IsReadAsAnotherKind(const std::string& path) {
  return KindOfExtension(path).value_or(FileKind::kJson) != FileKindForWriting(path);
}

bool NamesSingleFile(const std::string& path) {
  // Python's splitext: leading dots of the name do not begin an extension.
  const size_t slash = path.rfind('/');
  const size_t begin = slash == std::string::npos ? 0 : slash + 1;
  const size_t name = path.find_first_not_of('.', begin);
  return name != std::string::npos && path.find('.', name) != std::string::npos;
}

}  // namespace vernier
