// What npz and safetensors files of ours keep beside the tensors.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_sink.h"
#include "vernier/dtype.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Where the text stands: a member of npz files, a key of safetensors' own metadata.
inline constexpr const char* kNpzMetadataMember = "__vernier__.json";
inline constexpr const char* kSafetensorsMetadataKey = "vernier";

/// The true type of a tensor whose container cannot name it.
struct StoredType {
  DType dtype = DType::kUndefined;
  Dims dims;
};

struct ArchiveIteration {
  std::string runner_name;
  std::optional<double> runtime_s;
  std::optional<uint64_t> feed;  ///< HashFeed() of what it was made from, where it was known
};

struct ArchiveRun {
  std::string key;   ///< the first part of its tensors' names
  std::string name;  ///< the runner's name
  std::vector<ArchiveIteration> iterations;
};

struct ArchiveMetadata {
  bool is_results = false;  ///< runs are meant, even if there are none
  std::vector<ArchiveRun> runs;
  std::map<std::string, StoredType> types;  ///< by tensor name in the file
  std::optional<uint64_t> feed_count;  ///< of inputs, where the names do not tell: some are empty
};

/// Calls what it is given with each of some things in turn, until that fails. It may be called
/// again.
template <typename... T>
using Sequence = std::function<Status(const std::function<Status(const T&...)>&)>;

/// The same for a file that is being written, whose iterations and tensors may be too many for
/// memory.
struct WrittenMetadata {
  struct Run {
    std::string key;
    std::string name;
    Sequence<ArchiveIteration> iterations;
  };

  bool is_results = false;
  std::vector<Run> runs;
  std::optional<uint64_t> feed_count;
};

/// Writes them as JSON, without line breaks and in ASCII. `types` has the names of tensors, too.
Status WriteArchiveMetadata(ByteSink& sink, const WrittenMetadata& metadata,
                            const Sequence<std::string, StoredType>& types);

/// kMalformed when the text is not what WriteArchiveMetadata makes.
Result<ArchiveMetadata> ParseArchiveMetadata(std::string_view text);

}  // namespace vernier
