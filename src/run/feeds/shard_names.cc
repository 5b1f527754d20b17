#include "run/feeds/shard_names.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>

#include "io/bytes/directory_listing.h"
#include "io/results/partial_folder.h"
#include "io/results/partial_places.h"
#include "util/log/no_log.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSavedEndings[] = {".json", ".npz", ".safetensors"};

std::string OfCount(const ShardFileName& name) {
  return std::to_string(name.number) + " of " + std::to_string(name.count);
}

std::string TextOfRule(const ShardFileName& name) {
  if (!name.stride) return "";
  return " by stride" + (name.multiple > 1 ? " of " + std::to_string(name.multiple) : "");
}

bool AreOfOneRun(const ShardFileName& a, const ShardFileName& b) {
  return a.count == b.count && a.stride == b.stride && a.multiple == b.multiple;
}

// `before`: the shard of this run that came last; number 0: none did. `files`: all of them.
Status CheckNext(const std::string& path, const ShardFileName& name, const ShardFileName& before,
                 std::span<const ShardTensors> files) {
  const std::string what = "'" + path + "' is shard " + OfCount(name);
  if (name.skips) {
    return InvalidArgument(what +
                           " by stride of images, and does not say which of them it skipped"
                           ": they can be joined if shards have ranges, or ran with --strict, "
                           "which skips none");
  }
  if (before.number > 0 && !AreOfOneRun(name, before)) {
    return InvalidArgument(what + TextOfRule(name) + ", after shard " + OfCount(before) +
                           TextOfRule(before) + ": they are not of the same run");
  }
  if (name.number == before.number + 1) return {};
  if (name.number == before.number) return InvalidArgument(what + " again: give each shard once");
  if (name.number < before.number) {
    return InvalidArgument(what + " and comes after shard " + std::to_string(before.number) +
                           ": give them once each, in the order of their numbers");
  }
  const bool comes_later = std::ranges::any_of(files, [&](const ShardTensors& file) {
    const std::optional<ShardFileName> other = ReadShardFileName(file.path);
    return other && other->whole == name.whole && other->number == before.number + 1;
  });
  if (comes_later) {
    return InvalidArgument(what + " and comes before shard " + std::to_string(before.number + 1) +
                           ": give them once each, in the order of their numbers");
  }
  return InvalidArgument("shard " + std::to_string(before.number + 1) + " of " +
                         std::to_string(name.count) + " of '" + name.whole +
                         "' is missing before '" + path + "': its iterations would be left out");
}

struct LastShard {
  ShardFileName name;  // number 0: there was none yet
  size_t iterations = 0;
};

// Shards that failed have no file of this name, but a folder is filled iteration by iteration, and
// what `data recover` makes of parts may have been renamed. As a rule the first shards of a run
// have one iteration more than the others.
Status CheckShare(const ShardTensors& file, const ShardFileName& name, const LastShard& before,
                  Logger& logger) {
  const std::string what = "'" + file.path + "'";
  const std::string again = ": a shard has not saved all of its share; run it again";
  const std::string begun = std::string(WithoutTrailingSlashes(file.path)) + kPartialSuffix;
  if (IsDirectory(file.path) && IsThere(begun)) {
    return InvalidArgument(what + " is not whole, as '" + begun + "' shows" + again);
  }
  for (const size_t iterations : file.iterations) {
    if (iterations == file.iterations.front()) continue;
    return InvalidArgument(what + " has " + std::to_string(file.iterations.front()) +
                           " iterations of one runner and " + std::to_string(iterations) +
                           " of another" + again);
  }
  const size_t own = file.iterations.empty() ? 0 : file.iterations.front();
  if (before.name.number == 0 || name.stride) return {};
  if (own == before.iterations || own + 1 == before.iterations) return {};
  logger.Warning(
      what + " has " + Counted(own, "iteration") + ", and shard " +
      std::to_string(name.number - 1) + " before it " + std::to_string(before.iterations) +
      ": this is right only if --batch-feeds or skipped images explain it; a file made by "
      "`data recover` is incomplete");
  return {};
}

bool IsOfShard(std::string_view name) {
  if (name.find(".shard-") == std::string_view::npos) return false;  // of very many quickly
  const std::optional<ShardFileName> read = ReadShardFileName(std::string(name));
  const auto ends = [&](std::string_view ending) { return name.ends_with(ending); };
  return read && !read->partial && std::ranges::any_of(kSavedEndings, ends);
}

// It may well be the whole run that the shards are of.
Status CheckNothingBeside(const std::string& folder) {
  const Result<std::vector<std::string>> read = ListSavedFiles(folder);
  if (!read.ok()) return {};  // whoever reads it reports that
  const auto is_other = [](const std::string& path) {
    return !IsOfShard(fs::path(path).filename().string());
  };
  const auto other = std::ranges::find_if(*read, is_other);
  if (other == read->end() || std::ranges::all_of(*read, is_other)) return {};
  return InvalidArgument("'" + folder + "' has '" + *other +
                         "' beside files of shards, which would be read with them: move it away");
}

// Inputs are read file by file. Of a folder that cannot be listed whoever reads it reports that.
Status CheckNotByStride(const Result<std::vector<std::string>>& files) {
  for (const std::string& path : files.ok() ? *files : std::vector<std::string>()) {
    const std::optional<ShardFileName> name = ReadShardFileName(path);
    if (!name || !name->stride) continue;
    return InvalidArgument("'" + path + "' is shard " + OfCount(*name) +
                           " by stride, whose inputs take turns with those of the others: join "
                           "them with `vernier data concat` first");
  }
  return {};
}

}  // namespace

Status CheckShardsInOrder(std::span<const ShardTensors> files, Logger& logger) {
  std::map<std::string, LastShard> runs;
  for (const ShardTensors& file : files) {
    const std::optional<ShardFileName> name = ReadShardFileName(file.path);
    if (!name) continue;
    LastShard& before = runs[name->whole];
    VERNIER_TRY(CheckNext(file.path, *name, before.name, files));
    VERNIER_TRY(CheckShare(file, *name, before, logger));
    before = {*name, file.iterations.empty() ? 0 : file.iterations.front()};
  }
  for (const auto& [whole, last] : runs) {
    const ShardFileName& name = last.name;
    if (name.number == name.count) continue;
    return InvalidArgument("shard " + std::to_string(name.number + 1) + " of " +
                           std::to_string(name.count) + " of '" + whole +
                           "' is missing: its iterations would be left out");
  }
  return {};
}

Status CheckFoldersOfShards(std::span<const std::string> paths) {
  NoLog unheard;
  for (const std::string& path : paths) {
    if (!IsDirectory(path)) continue;
    VERNIER_ASSIGN_OR_RETURN(const std::vector<std::string> found, ListDirectory(path, IsOfShard));
    std::vector<ShardTensors> files;
    for (const std::string& file : found) files.push_back({file, {}});
    VERNIER_TRY(CheckShardsInOrder(files, unheard));
    if (!files.empty()) VERNIER_TRY(CheckNothingBeside(path));
  }
  return {};
}

Status CheckListedShards(std::span<const std::string> paths) {
  std::vector<ShardTensors> files;
  std::map<std::string, int> counts;  // of a run's files; a pattern counts as several
  std::vector<std::string> all;
  for (const std::string& pattern : paths) {
    const Result<std::vector<std::string>> fitting = ExpandPattern(pattern);
    if (!fitting.ok()) continue;  // whoever reads it reports that
    for (const std::string& path : *fitting) {
      all.push_back(path);
      const std::optional<ShardFileName> name = ReadShardFileName(path);
      if (!name || name->partial) continue;
      counts[name->whole] += path == pattern ? 1 : 2;
      files.push_back({path, {}});
    }
  }
  std::erase_if(files, [&](const ShardTensors& file) {
    return counts[ReadShardFileName(file.path)->whole] == 1;
  });
  for (const std::string& path : all) {
    if (IsDirectory(path)) VERNIER_TRY(CheckNotByStride(ListDirectory(path, IsOfShard)));
  }
  std::vector<std::string> listed;
  for (const ShardTensors& file : files) listed.push_back(file.path);
  VERNIER_TRY(CheckNotByStride(std::move(listed)));
  NoLog unheard;
  VERNIER_TRY(CheckShardsInOrder(files, unheard));
  return CheckFoldersOfShards(all);
}

Status CheckSidesOfShards(std::span<const std::string> paths) {
  std::map<std::string, std::pair<int64_t, std::string>> sides;
  for (const std::string& path : paths) {
    const std::optional<ShardFileName> name = ReadShardFileName(path);
    if (!name || name->partial) continue;
    const auto& [number, first] = sides.try_emplace(name->whole, name->number, path).first->second;
    if (number == name->number) continue;
    return InvalidArgument("'" + first + "' and '" + path +
                           "' are shards of one run, and would be " +
                           "compared with each other: give the folder of all its shards, or join "
                           "them with `vernier data concat`");
  }
  return {};
}

}  // namespace vernier
