#include "io/results/unnamed_iterations.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "io/archive/local_member.h"
#include "io/archive/zip_format.h"
#include "io/results/results_encoder.h"

namespace vernier {
namespace {

// Where an iteration begins, but for the first. Deeper levels are indented further.
constexpr std::string_view kNextResult = ",\n                {";
constexpr std::string_view kNextFeed = ",\n    {";

// What the journal names of a part.
struct NamedRange {
  uint64_t end = 0;      // of the last iteration; 0: none is named
  uint64_t largest = 0;  // iteration, in bytes
  size_t patience = 1;   // how often the tensors that are known may be in one that is not
  size_t growth = 1;     // how often the largest that is known may fit into one that is not
};

// The next iteration of a runner may be larger than those that are known, unless all are alike.
size_t GrowthOf(const std::vector<uint64_t>& sizes) {
  if (sizes.size() < 2) return 4;
  return std::ranges::min(sizes) == std::ranges::max(sizes) ? 1 : 2;
}

void AddRun(const std::vector<std::optional<JournalIteration>>& run, NamedRange& named) {
  // A runner whose size nothing says yet may have larger outputs.
  if (run.empty()) named.patience = 4;
  std::vector<uint64_t> sizes;
  for (const std::optional<JournalIteration>& entry : run) {
    if (!entry) continue;
    named.end = std::max(named.end, entry->end);
    sizes.push_back(entry->end - entry->begin);
    named.largest = std::max(named.largest, sizes.back());
  }
  named.growth = std::max(named.growth, GrowthOf(sizes));
}

// How often the word is behind `from`, counted to two; 0 where the text does not go on with it.
Result<int> CountNext(const InputFile& file, uint64_t from, std::string_view word) {
  constexpr uint64_t kStep = uint64_t{256} << 10;
  std::string text;
  int count = 0;
  for (uint64_t at = from; at < file.size() && count < 2;) {
    const auto size = static_cast<size_t>(std::min(kStep, file.size() - at));
    const size_t kept = text.size();
    text.resize(kept + size);
    VERNIER_TRY(file.ReadAt(at, std::as_writable_bytes(std::span(text).subspan(kept))));
    if (at == from && !text.starts_with(word)) return 0;
    at += size;
    for (size_t found = 0; count < 2 && (found = text.find(word)) != std::string::npos; ++count) {
      text.erase(0, found + word.size());
    }
    // A word may stand on both sides of the step's end.
    if (text.size() >= word.size()) text.erase(0, text.size() - word.size() + 1);
  }
  return count;
}

// Whole members behind `from`, counted as far as `most`.
size_t CountMembers(const InputFile& file, uint64_t from, size_t most) {
  size_t count = 0;
  for (uint64_t at = from; count < most; ++count) {
    const Result<ZipMember> member = ReadLocalMember(file, at, file.size());
    if (!member.ok()) break;
    at = member->data_offset + member->size;
  }
  return count;
}

size_t MostTensors(const Journal& journal) {
  size_t most = 1;  // metadata, while a file is being published
  for (const auto& [number, layout] : journal.layouts) most = std::max(most, layout.size());
  return most;
}

// Of an iteration, in bytes. A layout whose iteration has no line is that of the next one.
uint64_t LargestLayout(const Journal& journal) {
  uint64_t largest = 0;
  for (const auto& [number, layout] : journal.layouts) {
    uint64_t bytes = 0;
    for (const JournalTensor& tensor : layout) bytes += tensor.bytes;
    largest = std::max(largest, bytes);
  }
  return largest;
}

}  // namespace

Result<std::string> PartBeyondJournal(const PartialManifest& manifest, const Journal& journal,
                                      const std::vector<std::shared_ptr<const InputFile>>& parts) {
  const bool npz = manifest.format == ResultsFormat::kNpz;
  const bool archive = npz || manifest.format == ResultsFormat::kSafetensors;
  for (size_t part = 0; part < parts.size(); ++part) {
    if (parts[part] == nullptr) continue;
    NamedRange named;
    for (size_t run = 0; run < journal.runs.size(); ++run) {
      if (archive || run == part) AddRun(journal.runs[run], named);
    }
    const InputFile& file = *parts[part];
    if (named.end == 0 || named.end >= file.size()) continue;
    bool beyond = false;
    if (!archive) {
      const std::string_view next = manifest.inputs ? kNextFeed : kNextResult;
      VERNIER_ASSIGN_OR_RETURN(const int count, CountNext(file, named.end, next));
      beyond = count > 1;
    } else if (npz) {
      const size_t most = MostTensors(journal) * named.patience;
      beyond = CountMembers(file, named.end, most + 1) > most;
    } else {
      const uint64_t largest = std::max(named.largest * named.growth, LargestLayout(journal));
      beyond = largest > 0 && file.size() - named.end >= 2 * largest;
    }
    if (beyond) return archive ? std::string(kArchivePartName) : JsonPartName(part);
  }
  return std::string();
}

}  // namespace vernier
