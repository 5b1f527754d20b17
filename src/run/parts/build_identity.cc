#include "run/parts/build_identity.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "io/bytes/checksum.h"
#include "util/files/mapped_file.h"

namespace vernier {
namespace {

struct BuildSearch {
  uintptr_t code = 0;  // an address in the object that is looked for
  std::string identity;
};

std::string HexadecimalDigits(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += kDigits[value >> 4U];
    text += kDigits[value & 15U];
  }
  return text;
}

// Of the notes of one segment: each is its sizes, its owner and its content, padded to 4 bytes.
std::string FindBuildNote(std::string_view notes) {
  constexpr std::string_view kOwner("GNU\0", 4);
  const auto padded = [](size_t size) { return (size + 3) / 4 * 4; };
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes.data(), sizeof(note));
    notes.remove_prefix(sizeof(note));
    const size_t owner = padded(note.n_namesz), content = padded(note.n_descsz);
    if (owner > notes.size() || content > notes.size() - owner) return "";
    if (note.n_type == NT_GNU_BUILD_ID && notes.substr(0, note.n_namesz) == kOwner) {
      return HexadecimalDigits(notes.substr(owner, note.n_descsz));
    }
    notes.remove_prefix(owner + content);
  }
  return "";
}

int LookAtObject(dl_phdr_info* info, size_t, void* data) {
  auto& search = *static_cast<BuildSearch*>(data);
  const auto* const begin = info->dlpi_phdr;
  const auto* const end = begin + info->dlpi_phnum;
  const bool holds = std::any_of(begin, end, [&](const ElfW(Phdr) & segment) {
    const uintptr_t place = info->dlpi_addr + segment.p_vaddr;
    return segment.p_type == PT_LOAD && search.code >= place &&
           search.code - place < segment.p_memsz;
  });
  if (!holds) return 0;
  for (const auto* segment = begin; segment != end && search.identity.empty(); ++segment) {
    if (segment->p_type != PT_NOTE) continue;
    const auto* const notes = reinterpret_cast<const char*>(info->dlpi_addr + segment->p_vaddr);
    search.identity = FindBuildNote({notes, segment->p_memsz});
  }
  return 1;
}

}  // namespace

std::string BuildIdentity() {
  BuildSearch search{reinterpret_cast<uintptr_t>(&BuildIdentity), {}};
  ::dl_iterate_phdr(LookAtObject, &search);
  if (!search.identity.empty()) return search.identity;
  const auto program = MappedFile::Open("/proc/self/exe");
  if (!program.ok()) return "";
  Checksum checksum;
  checksum.Add((*program)->bytes());
  return (*program)->CheckIntact().ok() ? ChecksumText(checksum.value()) : "";
}

}  // namespace vernier
