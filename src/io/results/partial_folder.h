// The folder NAME.partial, where saved outputs wait until NAME can be written whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/bytes/part_file.h"
#include "io/results/results_format.h"
#include "util/files/unique_fd.h"
#include "vernier/status.h"

namespace vernier {

inline constexpr const char* kPartialSuffix = ".partial";
inline constexpr const char* kManifestName = "manifest.json";
inline constexpr const char* kJournalName = "journal.jsonl";

/// A path as a person typed it may end in slashes, which belong to no name. "/" stays.
std::string WithoutTrailingSlashes(std::string path);

/// Whether a living process is saving to the folder at `path`.
bool IsPartialFolderInUse(const std::string& path);

/// Removes the folder with everything in it: what would be taken for the only copy goes first, so
/// that one whose removal was cut off is known to be left over.
void RemovePartialFolder(const std::string& path);

/// What another command must have in common to continue the outputs.
struct PartialOrigin {
  std::optional<int64_t> seed = std::nullopt;    ///< of the inputs that outputs are made from
  int64_t batch_feeds = 1;                       ///< --batch-feeds
  std::optional<int64_t> models = std::nullopt;  ///< a hash of what the runners' files hold
};

struct PartialManifest {
  std::string target;  ///< the path at which is being saved, as it was typed or where that is now
  ResultsFormat format = ResultsFormat::kJson;
  std::vector<std::string> runner_names;
  bool inputs = false;  ///< feeds are saved, not outputs; there is one runner, called "inputs"
  PartialOrigin origin = {};
};

/// Holds manifest.json (what is saved there), the parts, and journal.jsonl with one line for
/// every finished iteration. The manifest is locked while the object lives, so that two runs cannot
/// write to the same folder.
class PartialFolder {
 public:
  /// What happens to folders that earlier runs left: NAME.partial is renamed to NAME.partial.<n>,
  /// see stale(); or none is touched, and this one gets such a name.
  enum class Earlier : uint8_t { kRenamed, kUntouched };

  /// Creates the folder. kIo when it cannot be created or a living process is using one.
  static Result<PartialFolder> Create(const PartialManifest& manifest,
                                      Earlier earlier = Earlier::kRenamed);

  const std::string& path() const { return path_; }

  /// Where the folder of an earlier run went; empty when there was none.
  const std::string& stale() const { return stale_; }

  Result<PartFile> CreatePart(std::string_view name) const;

  /// Appends lines, with their ends, to the journal.
  Status Record(std::string_view lines);

  /// Removes the folder with everything in it.
  void Remove();

 private:
  PartialFolder() = default;
  Status MakeRoom(Earlier earlier);
  Status Begin(const PartialManifest& manifest);

  std::string path_;
  std::string stale_;
  UniqueFd lock_;
  std::optional<PartFile> journal_;
};

}  // namespace vernier
