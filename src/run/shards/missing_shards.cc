#include "run/shards/missing_shards.h"

#include <algorithm>

#include "run/shards/shard_command.h"
#include "util/values/counted.h"

namespace vernier {
namespace {

std::string DescribeMissing(const ShardPart& part, int64_t number) {
  const ShardPlan shard = ShardOf(part.head(), number);
  const int64_t total = part.end().total, count = shard.CountOf(total);
  const std::string name = std::to_string(number) + "/" + std::to_string(shard.count);
  std::string what = "shard " + name + " is missing";
  if (count == 1) {
    what += ": iteration " + std::to_string(shard.IndexOf(0, total));
  } else if (count > 0) {
    what += ": iterations " + std::to_string(shard.IndexOf(0, total)) + " to " +
            std::to_string(shard.IndexOf(count - 1, total)) +
            (shard.rule == ShardRule::kStride ? StrideText(shard) : std::string());
  }
  if (part.head().words.empty()) {
    return what + "; to make it, give the file of its run 'shard.number' " + std::to_string(number);
  }
  return what + "; to make it: " + CommandOfShard(part.head().folder, part.head().words, name);
}

}  // namespace

std::vector<std::string> DescribeMissingShards(const ShardPart& part,
                                               std::span<const int64_t> there) {
  constexpr size_t kMostShown = 10;
  std::vector<std::string> missing;
  int64_t more = 0;
  for (int64_t number = 1; number <= part.head().count; ++number) {
    if (std::ranges::binary_search(there, number)) continue;
    if (missing.size() < kMostShown) {
      missing.push_back(DescribeMissing(part, number));
    } else {
      ++more;
    }
  }
  if (more > 0) {
    missing.push_back("and " + Counted(more, "more shard is", "more shards are") +
                      " missing: vernier merge --status lists them");
  }
  return missing;
}

}  // namespace vernier
