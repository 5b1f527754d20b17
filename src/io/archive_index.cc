#include "io/archive_index.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "io/archive_names.h"

namespace vernier {
namespace {

using Member = ArchiveIndex::Member;
using Iterations = std::map<uint64_t, std::vector<Member>>;

struct Grouped {
  std::vector<std::string> keys;  // in order of appearance
  std::map<std::string, Iterations> iterations;
};

Status Bad(const TensorArchive& archive, const std::string& what) {
  return Malformed("'" + archive.path() + "': " + what);
}

Result<Grouped> Group(const TensorArchive& archive, const std::vector<ArchiveName>& names) {
  Grouped grouped;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto [entry, is_new] = grouped.iterations.try_emplace(names[i].run);
    if (is_new) grouped.keys.push_back(names[i].run);
    entry->second[names[i].iteration].push_back({names[i].tensor, i});
  }
  if (grouped.keys.size() > 1 && grouped.iterations.contains("")) {
    return Bad(archive, "some tensors are named as inputs and some as outputs of a runner");
  }
  return grouped;
}

ArchiveIndex::Run MakeRun(std::string name, Iterations iterations) {
  ArchiveIndex::Run run{.name = std::move(name), .iterations = {}, .details = {}};
  for (auto& [number, members] : iterations) {
    run.iterations.push_back(std::move(members));
    run.details.push_back({run.name, std::nullopt, std::nullopt});
  }
  return run;
}

// With metadata, iterations are numbered without gaps and may be empty.
Result<ArchiveIndex::Run> MakeRunFrom(const TensorArchive& archive, const ArchiveRun& known,
                                      Iterations iterations) {
  if (!iterations.empty() && iterations.rbegin()->first >= known.iterations.size()) {
    return Bad(archive, "runner '" + known.name + "' has tensors of iteration " +
                            std::to_string(iterations.rbegin()->first) + ", but only " +
                            std::to_string(known.iterations.size()) + " iterations");
  }
  ArchiveIndex::Run run{.name = known.name, .iterations = {}, .details = known.iterations};
  run.iterations.resize(known.iterations.size());
  for (auto& [number, members] : iterations) {
    run.iterations[static_cast<size_t>(number)] = std::move(members);
  }
  return run;
}

// More feeds than any file of that size could be meant to have.
constexpr uint64_t kMaxEmptyFeeds = 1'000'000;

Result<ArchiveIndex> IndexFeeds(const TensorArchive& archive, Iterations iterations) {
  const uint64_t count = *archive.metadata().feed_count;
  if (count > kMaxEmptyFeeds + archive.names().size()) {
    return Bad(archive, "it claims " + std::to_string(count) + " feeds");
  }
  const std::vector<ArchiveIteration> details(static_cast<size_t>(count));
  ArchiveIndex index;
  VERNIER_ASSIGN_OR_RETURN(auto run,
                           MakeRunFrom(archive, {"", "", details}, std::move(iterations)));
  index.runs.push_back(std::move(run));
  return index;
}

ArchiveIndex OneIteration(const TensorArchive& archive) {
  std::vector<Member> members;
  for (size_t i = 0; i < archive.names().size(); ++i) members.push_back({archive.names()[i], i});
  ArchiveIndex index;
  index.runs.push_back(MakeRun("", Iterations{{0, std::move(members)}}));
  return index;
}

}  // namespace

Result<ArchiveIndex> IndexArchive(const TensorArchive& archive) {
  std::vector<ArchiveName> names;
  for (const std::string& name : archive.names()) {
    if (std::optional<ArchiveName> parts = ParseArchiveName(name)) names.push_back(*parts);
  }
  const ArchiveMetadata& metadata = archive.metadata();
  const bool ours = metadata.is_results || metadata.feed_count || !names.empty();
  if (!ours || names.size() != archive.names().size()) return OneIteration(archive);
  VERNIER_ASSIGN_OR_RETURN(Grouped grouped, Group(archive, names));
  if (metadata.feed_count) return IndexFeeds(archive, std::move(grouped.iterations[""]));
  ArchiveIndex index;
  index.is_results = metadata.is_results || !grouped.iterations.contains("");
  for (const ArchiveRun& known : metadata.runs) {
    VERNIER_ASSIGN_OR_RETURN(auto run,
                             MakeRunFrom(archive, known, std::move(grouped.iterations[known.key])));
    index.runs.push_back(std::move(run));
    std::erase(grouped.keys, known.key);
  }
  for (const std::string& key : grouped.keys) {
    index.runs.push_back(MakeRun(PercentDecode(key), std::move(grouped.iterations[key])));
  }
  return index;
}

Result<TensorMap> ReadMembers(const TensorArchive& archive, const std::vector<Member>& members,
                              ArchiveAccess access) {
  TensorMap tensors;
  for (const Member& member : members) {
    VERNIER_ASSIGN_OR_RETURN(Tensor tensor, archive.Read(member.index, access));
    tensors.push_back({member.name, std::move(tensor)});
  }
  return tensors;
}

}  // namespace vernier
