#include "run/shards/shard_command.h"

#include <string_view>

#include "util/text/shell_words.h"

namespace vernier {

std::vector<std::string> WithShard(std::span<const std::string> words, const std::string& shard) {
  constexpr std::string_view kFlag = "--shard", kAssigned = "--shard=";
  std::vector<std::string> made;
  bool found = false;
  for (const std::string& word : words) {
    const bool value = !made.empty() && made.back() == kFlag;
    const bool assigned = word.starts_with(kAssigned);
    made.push_back(value ? shard : assigned ? std::string(kAssigned) + shard : word);
    found |= value || assigned;
  }
  if (!found) made.insert(made.end(), {std::string(kFlag), shard});
  return made;
}

std::string CommandOfShard(const std::string& folder, std::span<const std::string> words,
                           const std::string& shard) {
  std::string command = folder.empty() ? std::string() : "cd " + QuoteForBash(folder) + " &&";
  for (const std::string& word : WithShard(words, shard)) {
    command += (command.empty() ? "" : " ") + QuoteForBash(word);
  }
  return command;
}

std::string StrideText(const ShardPlan& shard) {
  if (shard.multiple == 1) return ", every " + std::to_string(shard.count) + "th";
  return ", " + std::to_string(shard.multiple) + " of every " +
         std::to_string(shard.multiple * shard.count);
}

}  // namespace vernier
