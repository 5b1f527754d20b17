// How the tensors of an archive group into iterations and runners.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/tensor_archive.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

struct ArchiveIndex {
  struct Member {
    std::string name;
    size_t index = 0;  ///< in the archive
  };
  struct Run {
    std::string name;  ///< empty for inputs
    std::vector<std::vector<Member>> iterations;
    std::vector<ArchiveIteration> details;  ///< parallel to iterations
  };

  bool is_results = false;
  std::vector<Run> runs;  ///< exactly one for inputs
};

/// Groups by the names of io/archive_names.h. Names of any other form make one iteration; mixed
/// forms are kMalformed, and so are metadata that do not fit the names.
Result<ArchiveIndex> IndexArchive(const TensorArchive& archive);

/// Reads one iteration.
Result<TensorMap> ReadMembers(const TensorArchive& archive,
                              const std::vector<ArchiveIndex::Member>& members,
                              ArchiveAccess access = ArchiveAccess::kRead);

}  // namespace vernier
