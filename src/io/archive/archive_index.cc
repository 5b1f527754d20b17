#include "io/archive/archive_index.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "io/archive/archive_names.h"

namespace vernier {
namespace {

using Indices = std::span<const uint32_t>;

// Tensors by their runner; those of a runner in the order of iterations, otherwise the file's.
struct Grouped {
  std::vector<uint32_t> order;
  std::vector<std::string> keys;  // in order of appearance
  std::map<std::string, Indices> runs;
};

Status Bad(const TensorArchive& archive, const std::string& what) {
  return Malformed("'" + archive.path() + "': " + what);
}

Result<Grouped> Group(const TensorArchive& archive) {
  const ArchiveNameTable& names = archive.names();
  Grouped grouped;
  grouped.order.resize(names.size());
  std::iota(grouped.order.begin(), grouped.order.end(), 0u);
  // Numbers of runs are given in order of appearance.
  std::stable_sort(grouped.order.begin(), grouped.order.end(), [&names](uint32_t a, uint32_t b) {
    const auto first = *names.PartsOf(a);
    const auto second = *names.PartsOf(b);
    return std::pair(first.run, first.iteration) < std::pair(second.run, second.iteration);
  });
  for (auto begin = grouped.order.begin(); begin != grouped.order.end();) {
    const uint32_t run = names.PartsOf(*begin)->run;
    const auto end = std::find_if(begin, grouped.order.end(),
                                  [&](uint32_t index) { return names.PartsOf(index)->run != run; });
    grouped.keys.push_back(names.RunText(run));
    grouped.runs.emplace(names.RunText(run), Indices(begin, end));
    begin = end;
  }
  if (grouped.keys.size() > 1 && grouped.runs.contains("")) {
    return Bad(archive, "some tensors are named as inputs and some as outputs of a runner");
  }
  return grouped;
}

Indices Take(Grouped& grouped, const std::string& key) {
  const auto found = grouped.runs.find(key);
  if (found == grouped.runs.end()) return {};
  const Indices members = found->second;
  grouped.runs.erase(found);
  return members;
}

uint64_t IterationOf(const ArchiveNameTable& names, uint32_t index) {
  return names.PartsOf(index)->iteration;
}

// Iterations are paired by their place: behind a gap, those of other numbers would be compared.
// `name`: empty of feeds.
Status CheckNoGap(const TensorArchive& archive, const std::string& name, Indices members) {
  const ArchiveNameTable& names = archive.names();
  for (size_t i = 1; i < members.size(); ++i) {
    const uint64_t last = IterationOf(names, members[i - 1]);
    const uint64_t next = IterationOf(names, members[i]);
    if (next <= last + 1) continue;
    return Bad(archive, (name.empty() ? "it" : "runner '" + name + "'") + " has the iterations " +
                            std::to_string(last) + " and " + std::to_string(next) +
                            ", and none between them: number them without gaps");
  }
  return {};
}

// Iterations are those that have tensors.
ArchiveIndex::Run MakeRun(const ArchiveNameTable& names, std::string name, Indices members) {
  ArchiveIndex::Run run{.name = std::move(name),
                        .members = {members.begin(), members.end()},
                        .begins = {},
                        .known = nullptr};
  for (size_t i = 0; i < members.size(); ++i) {
    const bool first =
        i == 0 || IterationOf(names, members[i]) != IterationOf(names, members[i - 1]);
    if (first) run.begins.push_back(static_cast<uint32_t>(i));
  }
  run.begins.push_back(static_cast<uint32_t>(members.size()));
  return run;
}

// With metadata, iterations are numbered without gaps and may be empty.
Result<ArchiveIndex::Run> MakeRunOf(const TensorArchive& archive, std::string name, Indices members,
                                    size_t count) {
  const ArchiveNameTable& names = archive.names();
  if (!members.empty() && IterationOf(names, members.back()) >= count) {
    return Bad(archive, "runner '" + name + "' has tensors of iteration " +
                            std::to_string(IterationOf(names, members.back())) + ", but only " +
                            std::to_string(count) + " iterations");
  }
  ArchiveIndex::Run run{.name = std::move(name),
                        .members = {members.begin(), members.end()},
                        .begins = {},
                        .known = nullptr};
  run.begins.resize(count + 1);
  for (const uint32_t member : members) {
    ++run.begins[static_cast<size_t>(IterationOf(names, member)) + 1];
  }
  std::partial_sum(run.begins.begin(), run.begins.end(), run.begins.begin());
  return run;
}

// More feeds than any file of that size could be meant to have.
constexpr uint64_t kMaxEmptyFeeds = 1'000'000;

Result<ArchiveIndex> IndexFeeds(const TensorArchive& archive, Indices members) {
  const uint64_t count = *archive.metadata().feed_count;
  if (count > kMaxEmptyFeeds + archive.names().size()) {
    return Bad(archive, "it claims " + std::to_string(count) + " feeds");
  }
  ArchiveIndex index;
  VERNIER_ASSIGN_OR_RETURN(auto run, MakeRunOf(archive, "", members, static_cast<size_t>(count)));
  index.runs.push_back(std::move(run));
  return index;
}

ArchiveIndex OneIteration(const TensorArchive& archive) {
  const size_t count = archive.names().size();
  ArchiveIndex::Run run{.name = "",
                        .members = std::vector<uint32_t>(count),
                        .begins = {0, static_cast<uint32_t>(count)},
                        .known = nullptr,
                        .whole_names = true};
  std::iota(run.members.begin(), run.members.end(), 0u);
  ArchiveIndex index;
  index.runs.push_back(std::move(run));
  return index;
}

size_t CountParsed(const ArchiveNameTable& names) {
  size_t count = 0;
  for (size_t i = 0; i < names.size(); ++i) count += names.PartsOf(i) ? 1 : 0;
  return count;
}

}  // namespace

ArchiveIteration ArchiveIndex::Run::Details(size_t iteration) const {
  if (known != nullptr) return known->Get(iteration, name);
  return {.runner_name = name, .runtime_s = std::nullopt, .feed = std::nullopt};
}

Result<ArchiveIndex> IndexArchive(const TensorArchive& archive) {
  const ArchiveNameTable& names = archive.names();
  const ArchiveMetadata& metadata = archive.metadata();
  const size_t parsed = CountParsed(names);
  const bool ours = metadata.is_results || metadata.feed_count || parsed > 0;
  if (!ours || parsed != names.size()) return OneIteration(archive);
  VERNIER_ASSIGN_OR_RETURN(Grouped grouped, Group(archive));
  if (metadata.feed_count) return IndexFeeds(archive, Take(grouped, ""));
  ArchiveIndex index;
  index.is_results = metadata.is_results || !grouped.runs.contains("");
  for (const ArchiveRun& known : metadata.runs) {
    VERNIER_ASSIGN_OR_RETURN(auto run, MakeRunOf(archive, known.name, Take(grouped, known.key),
                                                 known.iterations->size()));
    run.known = known.iterations;
    run.steps = known.steps;
    index.runs.push_back(std::move(run));
    std::erase(grouped.keys, known.key);
  }
  for (const std::string& key : grouped.keys) {
    const Indices members = Take(grouped, key);
    std::string name = PercentDecode(key);
    VERNIER_TRY(CheckNoGap(archive, name, members));
    index.runs.push_back(MakeRun(names, std::move(name), members));
    if (!members.empty()) index.runs.back().first = IterationOf(names, members.front());
  }
  return index;
}

Result<TensorMap> ReadIteration(const TensorArchive& archive, const ArchiveIndex::Run& run,
                                size_t iteration, ArchiveAccess access) {
  const ArchiveNameTable& names = archive.names();
  TensorMap tensors;
  for (uint32_t place = run.begins[iteration]; place < run.begins[iteration + 1]; ++place) {
    const uint32_t member = run.members[place];
    VERNIER_ASSIGN_OR_RETURN(Tensor tensor, archive.Read(member, access));
    std::string name = run.whole_names
                           ? names.Text(member)
                           : PercentDecode(names.TensorText(names.PartsOf(member)->tensor));
    tensors.push_back({std::move(name), std::move(tensor)});
  }
  return tensors;
}

}  // namespace vernier
