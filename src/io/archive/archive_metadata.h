// What npz and safetensors files of ours keep beside the tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/archive/archive_name_table.h"
#include "io/bytes/byte_sink.h"
#include "io/bytes/kept_texts.h"
#include "io/json/json_text.h"
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
  std::optional<uint64_t> feed;  ///< MarkFeed() of what it was made from, where it was known
};

/// What is known of the iterations of a run: 24 bytes each.
class ArchiveIterations {
 public:
  /// `own_name`: where the runner was called otherwise than the run.
  void Add(const std::optional<std::string>& own_name, std::optional<double> runtime_s,
           std::optional<uint64_t> feed);

  size_t size() const { return records_.size(); }
  ArchiveIteration Get(size_t index, const std::string& run_name) const;

 private:
  struct Record {
    double runtime_s = 0;
    uint64_t feed = 0;
    uint32_t name = 0;
    bool has_runtime = false;
    bool has_feed = false;
    bool has_name = false;
  };
  std::vector<Record> records_;
  KeptTexts names_;
};

struct ArchiveRun {
  std::string key;   ///< the first part of its tensors' names
  std::string name;  ///< the runner's name
  std::shared_ptr<const ArchiveIterations> iterations;
  std::string steps = {};  ///< SavedRun::steps
};

/// Types, each kept once.
class StoredTypeTable {
 public:
  uint32_t Keep(StoredType type);
  const StoredType& operator[](uint32_t number) const { return types_[number]; }

 private:
  std::vector<StoredType> types_;
  std::map<std::pair<DType, Dims>, uint32_t> numbers_;
};

/// Types by tensor name in the file.
struct StoredTypes {
  ArchiveNameTable names;
  std::vector<uint32_t> numbers;  ///< parallel to names
  StoredTypeTable types;

  /// nullptr for a name that has none.
  const StoredType* Find(std::string_view name) const;
};

struct ArchiveMetadata {
  bool is_results = false;  ///< runs are meant, even if there are none
  std::vector<ArchiveRun> runs;
  StoredTypes types;
  std::optional<uint64_t>
      feed_count;  ///< of inputs, where the names do not show it: some are empty
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
    std::string steps = {};  ///< SavedRun::steps; not written where it is empty
  };

  bool is_results = false;
  std::vector<Run> runs;
  std::optional<uint64_t> feed_count;
};

/// Writes them as JSON, without line breaks and in ASCII. `types` has the names of tensors, too.
Status WriteArchiveMetadata(ByteSink& sink, const WrittenMetadata& metadata,
                            const Sequence<std::string, StoredType>& types);

/// Reads it in one pass. kMalformed when it is not what WriteArchiveMetadata makes.
Result<ArchiveMetadata> ReadArchiveMetadata(const JsonText& text);

}  // namespace vernier
