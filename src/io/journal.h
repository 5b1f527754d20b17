// journal.jsonl in NAME.partial: a line for every iteration that is whole, and what its tensors are
// where the part does not say so itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vernier/dtype.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

struct JournalTensor {
  std::string name;
  DType dtype = DType::kUndefined;
  Dims dims;
  uint64_t bytes = 0;  ///< in memory

  bool operator==(const JournalTensor&) const = default;
};

/// The tensors of an iteration in their order. Most iterations share one.
using JournalLayout = std::vector<JournalTensor>;

struct JournalIteration {
  size_t runner = 0;
  size_t iteration = 0;
  uint64_t begin = 0;  ///< its range in the runner's part
  uint64_t end = 0;
  std::optional<size_t> layout;     ///< where the part is not JSON
  std::optional<std::string> name;  ///< of the runner, where it is not that of the manifest
  std::optional<double> runtime_s;  ///< where the part is not JSON
  /// XXH3 of the range, where the part has none of its own. Not in JSON's of older versions.
  std::optional<uint64_t> checksum;
  std::optional<uint64_t> feed;  ///< HashFeed() of what it was made from, where it was known
};

/// Lines with their line ends.
std::string FormatJournalLayout(size_t number, const JournalLayout& layout);
std::string FormatJournalIteration(const JournalIteration& iteration);

/// What the journal has said last of a runner's tensors.
struct KnownLayout {
  std::optional<size_t> number;
  JournalLayout layout;
};

/// Sets entry.layout, and returns the line of the tensors unless it is `known` that they are the
/// same as before. `next` is the number of the next layout in the journal.
std::string DescribeLayout(const TensorMap& tensors, KnownLayout& known, size_t& next,
                           JournalIteration& entry);

struct Journal {
  std::vector<JournalLayout> layouts;
  std::vector<std::vector<JournalIteration>> runs;  ///< one for each runner; without gaps
};

/// Reads a journal up to its first line that is damaged: a writer that was killed or had no room
/// may have left half a line, and what comes behind cannot be trusted.
Journal ParseJournal(std::string_view text, size_t runners);

}  // namespace vernier
