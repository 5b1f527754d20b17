#include "run/shards/shard_status.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <unordered_set>

#include "io/recovery/partial_folder.h"
#include "record/shard_lines.h"
#include "run/shards/shard_parts.h"
#include "run/shards/shard_writer.h"
#include "util/mapped_file.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

// What has not been compared has not agreed.
bool AllOutputsPassed(const ShardIteration& iteration) {
  const auto passed = [](const ShardOutput& output) { return output.row.verdict == "passed"; };
  return !iteration.pairs.empty() && std::ranges::all_of(iteration.pairs, [&](const auto& pair) {
    return !pair.outputs.empty() && std::ranges::all_of(pair.outputs, passed);
  });
}

class ShardLook {
 public:
  Status AddPart(const std::string& path) {
    VERNIER_ASSIGN_OR_RETURN(ShardPart part, ShardPart::Open(path));
    seen_.count = std::max(seen_.count, part.head().count);
    seen_.total = std::max(seen_.total, part.end().total);
    done_.insert(part.head().numbers.begin(), part.head().numbers.end());
    while (part.index()) {
      VERNIER_TRY(AddLine(part.line(), path));
      VERNIER_TRY(part.Advance());
    }
    return {};
  }

  Status AddBegun(const std::string& path) {
    const std::string what = "'" + path + "'";
    VERNIER_ASSIGN_OR_RETURN(const auto file, MappedFile::Open(path));
    const std::span<const std::byte> bytes = file->bytes();
    std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    size_t end = rest.find('\n');
    VERNIER_ASSIGN_OR_RETURN(const ShardHead head, ReadShardHead(rest.substr(0, end), what));
    BegunShard begun;
    if (!head.numbers.empty()) begun.number = head.numbers.front();
    // The last line may be written by half.
    while (end != std::string_view::npos) {
      rest.remove_prefix(end + 1);
      end = rest.find('\n');
      std::string_view line = rest.substr(0, end == std::string_view::npos ? 0 : end);
      if (line.starts_with(',')) line.remove_prefix(1);
      if (!IndexOfShardLine(line)) continue;
      VERNIER_TRY(AddLine(line, path));
      ++begun.iterations;
    }
    VERNIER_TRY(file->CheckIntact());
    std::error_code ignored;
    const auto age = fs::file_time_type::clock::now() - fs::last_write_time(path, ignored);
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(age).count();
    begun.seconds_ago = std::max<int64_t>(seconds, 0);
    seen_.count = std::max(seen_.count, head.count);
    begun_[begun.number] = begun;
    return {};
  }

  // What other shards of the run of this part write, beside it.
  std::vector<std::string> PlacesBeside(const std::string& part) const {
    const fs::path path(part);
    const std::string stem = path.stem().string();
    const size_t at = stem.rfind(".shard-");
    std::vector<std::string> places;
    if (at == std::string::npos) return places;
    const fs::path whole = path.parent_path() / (stem.substr(0, at) + path.extension().string());
    for (int64_t number = 1; number <= seen_.count; ++number) {
      const ShardPlan shard{number, seen_.count, ShardRule::kContiguous, false};
      if (done_.contains(number)) continue;
      places.push_back(PathOfShard(whole.string(), shard) + std::string(kPartialSuffix));
    }
    return places;
  }

  ShardsSeen Finish() {
    seen_.done.assign(done_.begin(), done_.end());
    for (const auto& [number, begun] : begun_) {
      if (!done_.contains(number)) seen_.begun.push_back(begun);
    }
    for (int64_t number = 1; number <= seen_.count; ++number) {
      if (!done_.contains(number) && !begun_.contains(number)) seen_.missing.push_back(number);
    }
    return std::move(seen_);
  }

 private:
  Status AddLine(std::string_view line, const std::string& path) {
    VERNIER_ASSIGN_OR_RETURN(const ShardIteration iteration,
                             ReadShardIteration(line, "'" + path + "'"));
    if (!iteration.skipped.empty() || !indices_.insert(iteration.index).second) return {};
    ++seen_.iterations;
    seen_.agreeing += AllOutputsPassed(iteration) ? 1 : 0;
    return {};
  }

  ShardsSeen seen_;
  std::set<int64_t> done_;
  std::map<int64_t, BegunShard> begun_;
  std::unordered_set<int64_t> indices_;
};

}  // namespace

ShardsSeen LookAtShards(const std::vector<std::string>& paths, Logger& logger) {
  ShardLook look;
  std::set<std::string> begun;
  const auto warn = [&](const Status& status) {
    if (!status.ok()) logger.Warning(status.message());
  };
  for (const std::string& path : paths) {
    if (path.ends_with(kPartialSuffix)) {
      begun.insert(path);
    } else {
      warn(look.AddPart(path));
    }
  }
  for (const std::string& path : paths) {
    std::error_code ignored;
    for (std::string& place : look.PlacesBeside(path)) {
      if (fs::is_regular_file(place, ignored)) begun.insert(std::move(place));
    }
  }
  for (const std::string& path : begun) warn(look.AddBegun(path));
  return look.Finish();
}

std::string DescribeShards(const ShardsSeen& seen) {
  const auto joined = [](std::string text, const std::string& next) {
    return text.empty() ? next : std::move(text) + ", " + next;
  };
  std::string begun, missing;
  for (const BegunShard& shard : seen.begun) {
    begun = joined(std::move(begun), std::to_string(shard.number) + " (" +
                                         std::to_string(shard.iterations) + " iterations, " +
                                         std::to_string(shard.seconds_ago) + " s ago)");
  }
  for (const int64_t number : seen.missing) {
    missing = joined(std::move(missing), std::to_string(number));
  }
  const std::string total = seen.total > 0 ? std::to_string(seen.total) : "an unknown number of";
  return std::to_string(seen.done.size()) + " of " + std::to_string(seen.count) + " shards of " +
         total + " iterations are done" + (begun.empty() ? "" : "; begun: " + begun) +
         (missing.empty() ? "" : "; missing: " + missing) + "\n" + std::to_string(seen.iterations) +
         " iterations so far: " + std::to_string(seen.agreeing) + " agree, " +
         std::to_string(seen.iterations - seen.agreeing) + " do not";
}

}  // namespace vernier
