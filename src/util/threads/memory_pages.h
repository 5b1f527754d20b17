// Populates and releases pages of large mappings in parallel. All spans must be page-aligned,
// except that of DropPagesWithin.
#pragma once

#include <cstddef>
#include <span>

namespace vernier {

inline constexpr size_t kHugePage = size_t{2} << 20;

/// Makes the pages of memory that will be written to from its beginning to its end. One by one, as
/// each is touched, they cost more than writing to them. Does nothing on a kernel before 5.14.
void MakePages(std::span<const std::byte> pages);

/// Makes the pages of shared memory huge as far as it costs less than making small ones, which is
/// tried: a kernel that has free ones makes them in a sixth of the time, and unmaps and frees them
/// at no cost; one that must look for them takes longer. Maybe none; the rest is left to be made.
/// The memory must be writable, and at a multiple of kHugePage in its file as in its address.
void MakeHugePages(std::span<const std::byte> pages);

/// As MakePages, for memory that will only be read.
void MapPages(std::span<const std::byte> pages);

/// Lets go of the pages of a shared map, which come back when they are touched again.
void DropPages(std::span<const std::byte> pages);

/// As DropPages, of the pages that lie wholly in a part of a shared map, wherever it begins.
void DropPagesWithin(std::span<const std::byte> part);

/// Lets go of the pages of a shared map that is about to be unmapped.
void UnmapPages(std::span<const std::byte> pages);

}  // namespace vernier
