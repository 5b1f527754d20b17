// What the kernel does to the pages of large memory, on several processors. All of them start at a
// page.
#pragma once

#include <cstddef>
#include <span>

namespace vernier {

/// Makes the pages of memory that will be written to from its beginning to its end. One by one, as
/// each is touched, they cost more than writing to them. Does nothing on a kernel before 5.14.
void MakePages(std::span<const std::byte> pages);

/// As MakePages, for memory that will only be read.
void MapPages(std::span<const std::byte> pages);

/// Lets go of the pages of a shared map, which come back when they are touched again.
void DropPages(std::span<const std::byte> pages);

/// Lets go of the pages of a shared map that is about to be unmapped.
void UnmapPages(std::span<const std::byte> pages);

}  // namespace vernier
