#include "run/shards/all_parts.h"

#include <algorithm>
#include <set>

namespace vernier {

std::vector<int64_t> NumbersIn(const Parts& parts) {
  std::vector<int64_t> numbers;
  for (const ShardPart& part : parts) {
    numbers.insert(numbers.end(), part.head().numbers.begin(), part.head().numbers.end());
  }
  std::ranges::sort(numbers);
  numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
  return numbers;
}

const ShardEnd& EndOf(const Parts& parts) {
  const auto has_run = [](const RunnerRecord& runner) { return runner.iterations > 0; };
  const auto inferred = std::ranges::find_if(parts, [&](const ShardPart& part) {
    return std::ranges::any_of(part.end().runners, has_run);
  });
  return inferred == parts.end() ? parts.front().end() : inferred->end();
}

std::vector<ShardRecord> ShardsIn(const Parts& parts) {
  std::vector<ShardRecord> shards;
  for (const ShardPart& part : parts) {
    shards.insert(shards.end(), part.end().shards.begin(), part.end().shards.end());
  }
  std::ranges::stable_sort(shards, {}, &ShardRecord::number);
  return shards;
}

std::vector<ShardFlips> FlipsIn(const Parts& parts) {
  std::vector<ShardFlips> flips;
  for (const ShardPart& part : parts) {
    flips.insert(flips.end(), part.end().flips.begin(), part.end().flips.end());
  }
  return flips;
}

std::vector<std::string> GatherNotes(const Parts& parts, std::vector<std::string> ShardEnd::*list) {
  std::vector<std::string> notes;
  for (const ShardPart& part : parts) {
    for (const std::string& note : part.end().*list) {
      if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
    }
  }
  return notes;
}

ShardEnd GatherEnds(const Parts& parts) {
  ShardEnd end = EndOf(parts);
  end.notes = GatherNotes(parts, &ShardEnd::notes);
  end.on_mismatch = GatherNotes(parts, &ShardEnd::on_mismatch);
  end.seconds = 0;
  for (const ShardPart& part : parts) end.seconds += part.end().seconds;
  return end;
}

std::vector<ShardModule> ModulesIn(const Parts& parts) {
  std::set<ShardModule> modules;
  for (const ShardPart& part : parts) {
    modules.insert(part.end().modules.begin(), part.end().modules.end());
  }
  return {modules.begin(), modules.end()};
}

}  // namespace vernier
