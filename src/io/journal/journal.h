// journal.jsonl in NAME.partial: a line for every iteration that is whole, and what its tensors are
// where the part does not say so itself. Each line ends in a checksum of itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
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
  std::optional<uint64_t> feed;  ///< MarkFeed() of what it was made from, where it was known
};

/// What iterations were computed with: processor, runners, and what Python has imported.
struct JournalSource {
  std::string kind;   ///< "settings", "processor", "runner", "package" or "module"
  std::string name;   ///< "numpy"
  std::string value;  ///< of a runner its machine, of a package its version, of a module its hash
  std::string path = {};  ///< of a module's file; else empty
  std::string hash = {};  ///< of what is at `path`, as vernier takes it

  bool operator==(const JournalSource&) const = default;
  auto operator<=>(const JournalSource&) const = default;
};

/// The kind of a source that says how the steps of runner number `name` were fed.
inline constexpr std::string_view kStepsSource = "steps";

/// Lines with their line ends.
std::string FormatJournalSource(const JournalSource& source);
std::string FormatJournalLayout(size_t number, const JournalLayout& layout);
std::string FormatJournalIteration(const JournalIteration& iteration);

/// What the journal has said last of a runner's tensors.
struct KnownLayout {
  std::optional<size_t> number;
  JournalLayout layout;
  size_t uses = 0;
};

/// Sets entry.layout, and returns the line of the tensors unless it is `known` that they are the
/// same as before. Now and then the line comes again, for many iterations depend on it. `next` is
/// the number of the next layout in the journal.
std::string DescribeLayout(const TensorMap& tensors, KnownLayout& known, size_t& next,
                           JournalIteration& entry);

struct Journal {
  std::map<size_t, JournalLayout> layouts;  ///< without those whose lines are damaged
  /// One for each runner, by iteration; null where its line is damaged and a later one is not.
  std::vector<std::vector<std::optional<JournalIteration>>> runs;
  std::vector<JournalSource> sources;  ///< in the order of their lines; none in older versions
  std::vector<size_t> damaged;         ///< lines that cannot be trusted, counted from 1
  bool cut_off = false;                ///< nothing after the damaged line could be trusted either
};

/// Reads a journal as a kill, a full disk or a power cut leaves it. A damaged line costs only what
/// it describes. Lines of older versions have no checksum: there the first that is damaged ends the
/// journal. Half a line at the end is what a kill leaves, and is no damage.
Journal ParseJournal(std::string_view text, size_t runners);

/// "is damaged in lines 4, 7-9"; empty when no line is.
std::string DescribeDamage(const Journal& journal);

}  // namespace vernier
