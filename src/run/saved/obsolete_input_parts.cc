#include "run/saved/obsolete_input_parts.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "compare/outputs/same_bits.h"
#include "io/results/partial_folder.h"
#include "io/results/partial_places.h"
#include "io/results/partial_results.h"

namespace vernier {

ObsoleteInputParts::ObsoleteInputParts(const std::string& path, const std::string& moved) {
  for (const std::string& folder : PartsBeside(WithoutTrailingSlashes(path))) {
    const Result<PartialManifest> manifest = ReadPartialManifest(folder);
    if (!manifest.ok() || !manifest->inputs) continue;
    if (IsLeftOver(folder)) {
      parts_.push_back({folder, nullptr});
      continue;
    }
    Result<std::unique_ptr<ResultsReader::Source>> source = OpenPartialResults(folder);
    if (!source.ok() || (*source)->runs().size() != 1) continue;
    const bool begun_and_cut_off = folder == moved && (*source)->Damage().empty();
    if ((*source)->runs().front().iterations == 0 && !begun_and_cut_off) continue;
    parts_.push_back({folder, ResultsReader::Of(*std::move(source))});
  }
}

// What has grown is another run's, on a file system without locks.
bool ObsoleteInputParts::Parts::unchanged() const {
  if (reader == nullptr) return IsLeftOver(path);
  const auto now = OpenPartialResults(path);
  return now.ok() && (*now)->runs().size() == 1 && (*now)->runs().front().iterations == feeds();
}

void ObsoleteInputParts::Compare(const TensorMap& feed) {
  std::erase_if(parts_, [&feed](Parts& parts) {
    if (parts.finished()) return false;
    const Result<IterationResult> earlier = parts.reader->Read(0, parts.compared++);
    return !earlier.ok() || !SameBits(earlier->outputs, feed);
  });
}

void ObsoleteInputParts::Remove() {
  std::error_code ignored;
  for (const Parts& parts : parts_) {
    if (parts.finished() && parts.unchanged()) std::filesystem::remove_all(parts.path, ignored);
  }
}

}  // namespace vernier
