#include "run/shards/all_parts.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

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

namespace {

bool HasInferred(const ShardPart& part) {
  return std::ranges::any_of(part.end().runners,
                             [](const RunnerRecord& runner) { return runner.iterations > 0; });
}

std::string PairingText(const std::vector<std::string>& by_shape) {
  std::string text;
  for (const std::string& pair : by_shape) text += (text.empty() ? "'" : ", '") + pair + "'";
  return text.empty() ? "none" : text;
}

}  // namespace

Status CheckSamePairing(const Parts& parts) {
  const auto first = std::ranges::find_if(parts, HasInferred);
  for (auto part = first; part != parts.end(); ++part) {
    if (!HasInferred(*part)) continue;
    const std::vector<ShardPairNames>&there = first->end().pairs, &here = part->end().pairs;
    for (size_t i = 0; i < std::min(there.size(), here.size()); ++i) {
      if (there[i].by_shape == here[i].by_shape) continue;
      return Malformed(
          "'" + first->path() + "' and '" + part->path() + "' cannot be merged: outputs of " +
          here[i].shown_first + " and " + here[i].shown_second +
          " with different names were paired by shape: " + PairingText(there[i].by_shape) +
          " in the first, and " + PairingText(here[i].by_shape) +
          " in the second; pair them with --map-outputs");
    }
  }
  return {};
}

const ShardEnd& EndOf(const Parts& parts) {
  const auto inferred = std::ranges::find_if(parts, HasInferred);
  return inferred == parts.end() ? parts.front().end() : inferred->end();
}

std::vector<ShardRecord> ShardsIn(const Parts& parts) {
  std::vector<ShardRecord> shards;
  for (const ShardPart& part : parts) {
    shards.insert(shards.end(), part.end().shards.begin(), part.end().shards.end());
  }
  const auto key = [](const ShardRecord& shard) {
    return std::tie(shard.number, shard.started, shard.host, shard.process);
  };
  std::ranges::stable_sort(shards, {}, key);
  const auto is_copy = [&](const auto& a, const auto& b) { return key(a) == key(b); };
  const auto copies = std::ranges::unique(shards, is_copy);
  shards.erase(copies.begin(), copies.end());
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

namespace {

std::vector<ShardErrors> ErrorsOf(const ShardPart& part, int64_t shard) {
  std::vector<ShardErrors> own;
  std::ranges::copy_if(part.end().errors, std::back_inserter(own),
                       [shard](const ShardErrors& errors) { return errors.shard == shard; });
  return own;
}

}  // namespace

Result<std::vector<ShardErrors>> ErrorsIn(const Parts& parts) {
  std::vector<ShardErrors> all;
  std::map<int64_t, const ShardPart*> first;
  for (const ShardPart& part : parts) {
    for (const int64_t number : part.head().numbers) {
      std::vector<ShardErrors> own = ErrorsOf(part, number);
      const auto [known, is_new] = first.emplace(number, &part);
      if (is_new) {
        std::ranges::move(own, std::back_inserter(all));
      } else if (own != ErrorsOf(*known->second, number)) {
        return Malformed("'" + known->second->path() + "' and '" + part.path() +
                         "' hold other errors of the elements of shard " + std::to_string(number) +
                         ": leave one of them out");
      }
    }
  }
  std::ranges::stable_sort(all, {}, &ShardErrors::shard);
  return all;
}

ShardEnd GatherEnds(const Parts& parts) {
  ShardEnd end = EndOf(parts);
  end.notes = GatherNotes(parts, &ShardEnd::notes);
  end.on_mismatch = GatherNotes(parts, &ShardEnd::on_mismatch);
  end.seconds = 0;
  for (const ShardPart& part : parts) end.seconds += part.end().seconds;
  return end;
}

std::vector<ShardMadeWith> MadeWithIn(const Parts& parts) {
  std::map<std::array<std::string, 3>, std::set<int64_t>> shards;
  for (const ShardPart& part : parts) {
    for (const ShardMadeWith& made : part.end().made_with) {
      shards[{made.kind, made.name, made.value}].insert(made.shards.begin(), made.shards.end());
    }
  }
  std::vector<ShardMadeWith> all;
  for (const auto& [made, of] : shards) {
    all.push_back({made[0], made[1], made[2], {of.begin(), of.end()}});
  }
  return all;
}

}  // namespace vernier
