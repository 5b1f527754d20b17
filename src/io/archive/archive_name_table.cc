#include "io/archive/archive_name_table.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "io/archive/archive_names.h"

namespace vernier {
namespace {

using NameParts = ArchiveNameTable::Parts;

constexpr uint32_t kWhole = std::numeric_limits<uint32_t>::max();

bool IsBefore(const NameParts& a, const NameParts& b) {
  return std::tie(a.run, a.iteration, a.tensor) < std::tie(b.run, b.iteration, b.tensor);
}

}  // namespace

void ArchiveNameTable::Add(std::string_view name) {
  const std::optional<ArchiveNameParts> parts = SplitArchiveName(name);
  if (parts) {
    names_.push_back({runs_.Keep(parts->run), tensors_.Keep(parts->tensor), parts->iteration});
  } else {
    names_.push_back({kWhole, tensors_.Keep(name), 0});
  }
}

std::string ArchiveNameTable::Text(size_t index) const {
  const NameParts& parts = names_[index];
  const std::string& tensor = tensors_[parts.tensor];
  if (parts.run == kWhole) return tensor;
  const std::string path = IterationText(parts.iteration) + "/" + tensor;
  const std::string& run = runs_[parts.run];
  return run.empty() ? path : run + "/" + path;
}

std::optional<NameParts> ArchiveNameTable::PartsOf(size_t index) const {
  return names_[index].run == kWhole ? std::nullopt : std::optional(names_[index]);
}

std::optional<size_t> ArchiveNameTable::Finish() {
  sorted_.clear();
  if (!std::is_sorted(names_.begin(), names_.end(), IsBefore)) {
    sorted_.resize(names_.size());
    std::iota(sorted_.begin(), sorted_.end(), 0u);
    std::stable_sort(sorted_.begin(), sorted_.end(),
                     [this](uint32_t a, uint32_t b) { return IsBefore(names_[a], names_[b]); });
  }
  const auto at = [this](size_t place) { return sorted_.empty() ? place : sorted_[place]; };
  for (size_t place = 1; place < names_.size(); ++place) {
    if (names_[at(place - 1)] == names_[at(place)]) return at(place);
  }
  return std::nullopt;
}

std::optional<size_t> ArchiveNameTable::Find(std::string_view name) const {
  const std::optional<ArchiveNameParts> parts = SplitArchiveName(name);
  const std::optional<uint32_t> run = parts ? runs_.Find(parts->run) : std::optional(kWhole);
  const std::optional<uint32_t> tensor = tensors_.Find(parts ? parts->tensor : name);
  if (!run || !tensor) return std::nullopt;
  const NameParts wanted{*run, *tensor, parts ? parts->iteration : 0};
  if (sorted_.empty()) {
    const auto behind = std::upper_bound(names_.begin(), names_.end(), wanted, IsBefore);
    if (behind == names_.begin() || *(behind - 1) != wanted) return std::nullopt;
    return static_cast<size_t>(behind - names_.begin()) - 1;
  }
  const auto behind = std::upper_bound(
      sorted_.begin(), sorted_.end(), wanted,
      [this](const NameParts& value, uint32_t index) { return IsBefore(value, names_[index]); });
  if (behind == sorted_.begin() || names_[*(behind - 1)] != wanted) return std::nullopt;
  return *(behind - 1);
}

}  // namespace vernier
