#include "run/shards/shard_status.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <unordered_set>

#include "io/results/partial_folder.h"
#include "io/results/shard_file_name.h"
#include "record/shards/shard_lines.h"
#include "run/parts/begun_parts.h"
#include "run/parts/shard_differences.h"
#include "run/parts/shard_parts.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

bool AllOutputsPassed(const ShardIteration& iteration) {
  const auto passed = [](const ShardOutput& output) { return output.row.verdict == "passed"; };
  return std::ranges::all_of(iteration.pairs, [&](const ShardPair& pair) {
    return std::ranges::all_of(pair.outputs, passed);
  });
}

// Whether there is a pair, and every pair has outputs: what has not been compared has not agreed.
bool HasComparedAllPairs(const ShardIteration& iteration) {
  return !iteration.pairs.empty() &&
         std::ranges::none_of(iteration.pairs,
                              [](const ShardPair& pair) { return pair.outputs.empty(); });
}

// "2, 4-999", of ascending numbers.
std::string RangesText(const std::vector<int64_t>& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const size_t first = i;
    while (i + 1 < numbers.size() && numbers[i + 1] == numbers[i] + 1) ++i;
    text += (text.empty() ? "" : ", ") + std::to_string(numbers[first]);
    if (i > first) text += (i == first + 1 ? ", " : "-") + std::to_string(numbers[i]);
  }
  return text;
}

int64_t NowInMilliseconds() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

class ShardLook {
 public:
  Status AddPart(const std::string& path) {
    seen_.parts.push_back(path);
    VERNIER_ASSIGN_OR_RETURN(ShardPart part, ShardPart::Open(path));
    VERNIER_TRY(CheckRun(part.head(), path));
    seen_.total = std::max(seen_.total, part.end().total);
    done_.insert(part.head().numbers.begin(), part.head().numbers.end());
    done_seconds_ += part.end().seconds;
    done_lines_ += part.end().lines;
    while (part.index()) {
      VERNIER_TRY(AddLine(part.line(), path));
      VERNIER_TRY(part.Advance());
    }
    return {};
  }

  Status AddBegun(const std::string& path) {
    BegunShard begun;
    int64_t began_ms = 0;
    const auto take_head = [&](const ShardHead& head) -> Status {
      VERNIER_TRY(CheckRun(head, path));
      begun.number = head.numbers.front();
      began_ms = head.began_ms;
      return {};
    };
    const auto take_line = [&](std::string_view line) -> Status {
      if (line.starts_with(',')) line.remove_prefix(1);
      ++begun.iterations;
      return AddLine(line, path);
    };
    VERNIER_ASSIGN_OR_RETURN(const int64_t written_ms, ReadBegunPart(path, take_head, take_line));
    if (begun.number == 0) {
      // Not even the head is there yet.
      const std::optional<ShardFileName> name = ReadShardFileName(path);
      if (!name) return Malformed("'" + path + "' is empty: no shard has written there yet");
      begun.number = name->number;
      seen_.count = std::max(seen_.count, name->count);
    }
    constexpr double kMilli = 1e-3;
    if (began_ms > 0) begun.seconds = static_cast<double>(written_ms - began_ms) * kMilli;
    begun.seconds_ago = std::max<int64_t>(0, (NowInMilliseconds() - written_ms) / 1000);
    // A killed shard has left one, and the shard that was started again writes another.
    const auto [at, is_new] = begun_.emplace(begun.number, begun);
    if (!is_new && begun.seconds_ago < at->second.seconds_ago) at->second = begun;
    return {};
  }

  bool IsDone(int64_t number) const { return done_.contains(number); }
  int64_t count() const { return seen_.count; }

  ShardsSeen Finish() {
    seen_.done.assign(done_.begin(), done_.end());
    for (const auto& [number, begun] : begun_) {
      if (!done_.contains(number)) seen_.begun.push_back(begun);
    }
    for (int64_t number = 1; number <= seen_.count; ++number) {
      if (!done_.contains(number) && !begun_.contains(number)) seen_.missing.push_back(number);
    }
    Estimate();
    return std::move(seen_);
  }

 private:
  // Parts of several runs may lie in one folder: what is said must be of one.
  Status CheckRun(const ShardHead& head, const std::string& path) {
    if (first_path_.empty()) {
      first_ = head;
      first_path_ = path;
      seen_.count = head.count;
    }
    const std::string other = DifferenceOfHeads(first_, head, first_path_, path);
    if (other.empty()) return {};
    return Malformed("'" + path + "' does not count: it does not belong to '" + first_path_ +
                     "': " + other);
  }

  // By what an iteration has taken so far: of the shard itself, or else of all.
  void Estimate() {
    double seconds = done_seconds_;
    int64_t lines = done_lines_;
    for (const BegunShard& begun : seen_.begun) {
      seconds += begun.seconds;
      lines += begun.iterations;
    }
    if (lines == 0 || seconds <= 0 || seen_.total == 0) return;
    const double usual = seconds / static_cast<double>(lines);
    for (const BegunShard& begun : seen_.begun) {
      const int64_t rest = ShardOf(first_, begun.number).CountOf(seen_.total) - begun.iterations;
      const double own =
          begun.iterations > 0 ? begun.seconds / static_cast<double>(begun.iterations) : usual;
      const double left = static_cast<double>(rest) * own - static_cast<double>(begun.seconds_ago);
      seen_.seconds_left = std::max(seen_.seconds_left.value_or(left), left);
    }
    for (const int64_t number : seen_.missing) {
      const int64_t rest = ShardOf(first_, number).CountOf(seen_.total);
      seen_.seconds_missing = seen_.seconds_missing.value_or(0) + static_cast<double>(rest) * usual;
    }
  }

  Status AddLine(std::string_view line, const std::string& path) {
    VERNIER_ASSIGN_OR_RETURN(const ShardIteration iteration,
                             ReadShardIteration(line, "'" + path + "'"));
    if (!iteration.skipped.empty() || !indices_.insert(iteration.index).second) return {};
    ++seen_.iterations;
    const bool passed = AllOutputsPassed(iteration), compared = HasComparedAllPairs(iteration);
    seen_.agreeing += passed && compared ? 1 : 0;
    seen_.not_compared += passed && !compared ? 1 : 0;
    return {};
  }

  ShardsSeen seen_;
  ShardHead first_;  // of the part at first_path_
  std::string first_path_;
  double done_seconds_ = 0;
  int64_t done_lines_ = 0;
  std::set<int64_t> done_;
  std::map<int64_t, BegunShard> begun_;
  std::unordered_set<int64_t> indices_;
};

// What is written meanwhile may be done by the time it is looked at.
Status AddBegunOrDone(const std::string& path, ShardLook& look) {
  std::error_code ignored;
  const Status status = look.AddBegun(path);
  const std::optional<ShardFileName> name = ReadShardFileName(path);
  if (status.ok() || fs::exists(path, ignored) || !name) return status;
  const ShardPlan shard{name->number, name->count, ShardRule::kContiguous, false};
  const std::string part = PathOfShard(name->whole, shard);
  return fs::exists(part, ignored) ? look.AddPart(part) : Status();
}

std::string AboutSeconds(double seconds) {
  constexpr int64_t kMinute = 60, kHour = 3600;
  const auto whole = static_cast<int64_t>(std::ceil(std::max(0.0, seconds)));
  if (whole < 2 * kMinute) return std::to_string(whole) + " s";
  if (whole < 2 * kHour) return std::to_string((whole + kMinute / 2) / kMinute) + " min";
  return std::to_string((whole + kHour / 2) / kHour) + " h";
}

// Empty where nothing is known of it.
std::string DescribeRest(const ShardsSeen& seen) {
  std::string text;
  if (seen.seconds_left && *seen.seconds_left < 0) {
    text = "the shards that have begun should be done by now: they may have been killed";
  } else if (seen.seconds_left) {
    text = "about " + AboutSeconds(*seen.seconds_left) + " left for what has begun";
  }
  if (seen.seconds_missing) {
    text += (text.empty() ? "" : "; ") + std::string("about ") +
            AboutSeconds(*seen.seconds_missing) + " of work in what is missing";
  }
  return text.empty() ? text : "\n" + text;
}

// "result.shard-*.json" is left as it is by a shell as long as no part is done: "result.json".
std::string WholeOfPattern(const std::string& path) {
  const fs::path place(path);
  const std::string name = place.filename().string();
  const size_t at = name.find(".shard-");
  std::error_code ignored;
  if (at == std::string::npos || fs::exists(place, ignored)) return "";
  return (place.parent_path() / (name.substr(0, at) + place.extension().string())).string();
}

}  // namespace

ShardsSeen LookAtShards(const std::vector<std::string>& paths, Logger& logger) {
  ShardLook look;
  std::set<std::string> begun, wholes;
  const auto warn = [&](const Status& status) {
    if (!status.ok()) logger.Warning(status.message());
  };
  for (const std::string& path : paths) {
    const std::optional<ShardFileName> name = ReadShardFileName(path);
    if (name) wholes.insert(name->whole);
    if (const std::string whole = name ? "" : WholeOfPattern(path);
        !whole.empty() && !FindBegunParts(whole).empty()) {
      wholes.insert(whole);
      continue;
    }
    if ((name && name->partial) || path.ends_with(kPartialSuffix)) {
      begun.insert(path);
    } else {
      warn(look.AddPart(path));
    }
  }
  for (const std::string& whole : wholes) {
    for (std::string& place : FindBegunParts(whole)) {
      const std::optional<ShardFileName> name = ReadShardFileName(place);
      const bool other_division = look.count() > 0 && name->count != look.count();
      if (!other_division && !look.IsDone(name->number)) begun.insert(std::move(place));
    }
  }
  for (const std::string& path : begun) warn(AddBegunOrDone(path, look));
  return look.Finish();
}

std::string DescribeShards(const ShardsSeen& seen) {
  const auto joined = [](std::string text, const std::string& next) {
    return text.empty() ? next : std::move(text) + ", " + next;
  };
  std::string begun;
  for (const BegunShard& shard : seen.begun) {
    begun = joined(std::move(begun), std::to_string(shard.number) + " (" +
                                         std::to_string(shard.iterations) + " iterations, " +
                                         std::to_string(shard.seconds_ago) + " s ago)");
  }
  const std::string missing = RangesText(seen.missing);
  const std::string total = seen.total > 0 ? std::to_string(seen.total) : "an unknown number of";
  return std::to_string(seen.done.size()) + " of " + std::to_string(seen.count) + " shards of " +
         total + " iterations are done" + (begun.empty() ? "" : "; begun: " + begun) +
         (missing.empty() ? "" : "; missing: " + missing) + "\n" + std::to_string(seen.iterations) +
         " iterations so far: " + std::to_string(seen.agreeing) + " agree, " +
         std::to_string(seen.iterations - seen.agreeing - seen.not_compared) + " do not" +
         (seen.not_compared > 0 ? ", " + std::to_string(seen.not_compared) + " not compared" : "") +
         DescribeRest(seen);
}

}  // namespace vernier
