// The formats in which saved outputs are collected and published.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/archive/tensor_archive.h"
#include "io/results/partial_folder.h"
#include "io/results/results_format.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

class ResultsEncoder {
 public:
  virtual ~ResultsEncoder() = default;

  /// Adds an iteration to the parts; on error the parts are as before. Returns the lines that the
  /// journal says about it. `feed`: the hash of what it was made from, where that is known.
  virtual Result<std::string> Append(size_t runner, const IterationResult& result,
                                     std::optional<uint64_t> feed) = 0;

  /// What may be done once the journal has the iteration.
  virtual Status Recorded() { return {}; }

  /// See ResultsWriter::NoteSteps().
  virtual void NoteSteps(size_t, const std::string&) {}

  /// Makes the target from the first counts[i] iterations of each runner i.
  virtual Status Publish(std::span<const size_t> counts) = 0;
};

/// What an encoder works on; the folder must outlive it.
struct EncoderTarget {
  std::string path;
  std::vector<std::string> runner_names;
  const PartialFolder* folder;
};

Result<std::unique_ptr<ResultsEncoder>> MakeJsonFileEncoder(EncoderTarget target);
Result<std::unique_ptr<ResultsEncoder>> MakeJsonDirectoryEncoder(EncoderTarget target);
Result<std::unique_ptr<ResultsEncoder>> MakeArchiveEncoder(EncoderTarget target,
                                                           ArchiveFormat format);

/// The name of a runner's part in the folder; archives have one part for all runners.
std::string JsonPartName(size_t runner);
inline constexpr const char* kArchivePartName = "tensors.part";

}  // namespace vernier
