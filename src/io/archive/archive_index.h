// How the tensors of an archive group into iterations and runners.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/archive/tensor_archive.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Four bytes a tensor and four an iteration.
struct ArchiveIndex {
  struct Run {
    std::string name;               ///< empty for inputs
    std::vector<uint32_t> members;  ///< in the archive; those of an iteration stand together
    std::vector<uint32_t> begins;   ///< in members: of each iteration, and after the last one
    std::shared_ptr<const ArchiveIterations> known;  ///< nullptr where the file says nothing
    uint64_t first = 0;                              ///< number of the first iteration
    std::string steps = {};                          ///< SavedRun::steps
    bool whole_names = false;  ///< a tensor is called as in the file: nothing stands for iterations

    size_t size() const { return begins.size() - 1; }
    ArchiveIteration Details(size_t iteration) const;
  };

  bool is_results = false;
  std::vector<Run> runs;  ///< exactly one for inputs
};

/// Groups by the names of io/archive_names.h. Names of any other form make one iteration; mixed
/// forms are kMalformed, and so are metadata that do not fit the names, and without metadata a gap
/// between the iterations of a runner or of feeds (the first may have any number).
Result<ArchiveIndex> IndexArchive(const TensorArchive& archive);

/// Reads one iteration.
Result<TensorMap> ReadIteration(const TensorArchive& archive, const ArchiveIndex::Run& run,
                                size_t iteration, ArchiveAccess access = ArchiveAccess::kRead);

}  // namespace vernier
