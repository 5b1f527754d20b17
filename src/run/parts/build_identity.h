// Which build of this program writes a part: two of one version may compute other numbers.
#pragma once

#include <string>

namespace vernier {

/// Of the executable or library that holds this code: the identity that the linker gave it, in
/// hexadecimal digits, else a hash of the executable. Empty: neither can be read.
std::string BuildIdentity();

}  // namespace vernier
