// A member of an npz archive whose directory was never written.
#pragma once

#include <cstdint>

#include "io/archive/zip_reader.h"
#include "util/files/input_file.h"
#include "vernier/status.h"

namespace vernier {

/// The member whose local header begins at `position`, in the form that our writer gives it.
/// kMalformed where it does not end before `end`.
Result<ZipMember> ReadLocalMember(const InputFile& file, uint64_t position, uint64_t end);

}  // namespace vernier
