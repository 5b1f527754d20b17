#include "inputs/memory_room.h"

#include <algorithm>
#include <optional>

#include "core/memory_limit.h"
#include "util/process/process_memory.h"
#include "util/text/number_text.h"

namespace vernier {

Status CheckMemoryRoom(uint64_t bytes, const std::string& what, bool fixed) {
  constexpr uint64_t kAlwaysFits = uint64_t{256} << 20;
  if (bytes <= kAlwaysFits) return {};
  const std::optional<FreeMemory> free = FindFreeMemory();
  if (!free) return {};
  const uint64_t room = std::min(free->with_swap, MemoryLimit());
  if (bytes <= room) return {};
  return Malformed(what + " of one iteration take " + FormatBytes(bytes) + ", and only " +
                   FormatBytes(room) + " of memory are free; " +
                   (fixed ? "the model fixes their sizes, so it needs a machine with more"
                          : "give smaller sizes with --dim or --input-shapes"));
}

}  // namespace vernier
