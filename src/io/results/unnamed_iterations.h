// Parts that extend beyond their journal: a journal that was cut between two lines.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/journal/journal.h"
#include "io/results/partial_folder.h"
#include "util/files/input_file.h"
#include "vernier/status.h"

namespace vernier {

/// The name of a part that holds more behind its last iteration in the journal than the one that a
/// kill leaves without its line; empty where none does. Of text and npz that is counted; of
/// safetensors, which say nothing of themselves, it is room for two of the largest known, or for
/// more of them where a runner's iterations grow or only one is known. A missing part is null. kIo
/// where a part cannot be read.
Result<std::string> PartBeyondJournal(const PartialManifest& manifest, const Journal& journal,
                                      const std::vector<std::shared_ptr<const InputFile>>& parts);

}  // namespace vernier
