#include "picture/picture_file.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "picture/canvas.h"
#include "picture/png.h"
#include "picture/svg.h"
#include "util/files/atomic_file.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

// File systems take 255 bytes; extension, temporary suffix and a number need some of them.
constexpr size_t kLongestStem = 180;
constexpr size_t kKeptEnd = 64;

// FNV-1a. Tells shortened names apart; nothing depends on its strength.
uint64_t Hash(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::string HexDigits(uint64_t value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(value >> shift) & 15];
  return text;
}

bool ContinuesCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::string Shortened(const std::string& name, std::string_view original) {
  const std::string middle = "~" + HexDigits(Hash(original)) + "~";
  size_t head = kLongestStem - kKeptEnd - middle.size();
  size_t tail = name.size() - kKeptEnd;
  // Not through the middle of a UTF-8 character.
  while (head > 0 && ContinuesCharacter(name[head])) --head;
  while (tail < name.size() && ContinuesCharacter(name[tail])) ++tail;
  return name.substr(0, head) + middle + name.substr(tail);
}

bool IsSet(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

std::string SafeFileStem(std::string_view text) {
  std::string name(text);
  for (char& c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '/' || byte < 0x20 || byte == 0x7F) c = '_';
  }
  if (name.empty() || name[0] == '.') name.insert(0, "_");
  return name.size() <= kLongestStem ? name : Shortened(name, text);
}

Status SaveFigure(const Figure& figure, const Typeface& typeface, const std::string& folder,
                  const std::string& stem) {
  VERNIER_ASSIGN_OR_RETURN(const std::string svg, FormatSvg(figure, typeface));
  VERNIER_ASSIGN_OR_RETURN(const std::string png, EncodePng(Render(figure, typeface)));
  const std::string path = (fs::path(folder) / stem).string();
  // Hundreds of small files: waiting for the disk after each takes longer than drawing it.
  VERNIER_TRY(WriteFileAtomically(path + ".svg", svg, Durability::kRenamed));
  return WriteFileAtomically(path + ".png", png, Durability::kRenamed);
}

Status OpenOnDesktop(const std::string& path) {
  if (!IsSet("DISPLAY") && !IsSet("WAYLAND_DISPLAY")) return Unavailable("there is no display");
  std::string program = "xdg-open";
  std::string argument = fs::absolute(path).string();
  char* const words[] = {program.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  if (posix_spawn_file_actions_init(&files) != 0 || posix_spawnattr_init(&attributes) != 0) {
    return Unavailable("xdg-open cannot be started");
  }
  // The viewer must neither write into the log nor end with the terminal.
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_WRONLY, 0);
  }
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t child = 0;
  const int error = posix_spawnp(&child, program.c_str(), &files, &attributes, words, environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error == 0) return {};
  return Unavailable(std::string("xdg-open cannot be started: ") + std::strerror(error));
}

Result<std::string> MakeTemporaryFolder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) return IoError("there is no folder for temporary files: " + error.message());
  std::string name = (parent / "vernier-pictures-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    return IoError("'" + name + "' cannot be created: " + std::strerror(errno));
  }
  return name;
}

}  // namespace vernier
