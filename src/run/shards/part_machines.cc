#include "run/shards/part_machines.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "run/parts/build_identity.h"

namespace vernier {
namespace {

// What of the same name should be the same.
struct MachinePart {
  int order = 0;  // of notes
  std::string name;
  auto operator<=>(const MachinePart&) const = default;
};

// Kind and value.
using MachineValue = std::pair<std::string, std::string>;
using MachineValues = std::set<MachineValue>;

constexpr int kImported = 3;

MachinePart PartOf(const ShardMadeWith& made) {
  constexpr std::string_view kFirst[kImported] = {"build", "processor", "runner"};
  return {static_cast<int>(std::ranges::find(kFirst, made.kind) - kFirst), made.name};
}

// A value with the first shard that has it.
struct PlacedValue {
  MachineValue value;
  int64_t shard = 0;
};

struct MachineDifference {
  MachinePart part;
  PlacedValue first, other;
};

std::string VersionText(const MachineValue& value) {
  return value.first == "package" ? value.second : "no installed package";
}

std::string DescribeDifference(const MachineDifference& found, const std::string& there,
                               const std::string& here) {
  const MachineValue &first = found.first.value, &other = found.other.value;
  const std::string& name = found.part.name;
  if (first.first == "build") {
    return "vernier " + name + " was one build of it in " + there + " (" + first.second +
           "), and another in " + here + " (" + other.second + ")";
  }
  if (first.first == "processor") {
    return "the processor was " + first.second + " in " + there + ", and " + other.second + " in " +
           here;
  }
  if (first.first == "runner") {
    return "runner '" + name + "' was " + first.second + " in " + there + ", and " + other.second +
           " in " + here;
  }
  return "the Python package '" + name + "' was " + VersionText(first) + " in " + there + ", and " +
         VersionText(other) + " in " + here;
}

// A module that only one of them has imported is none that differs: scripts import some when they
// need them.
std::vector<MachineDifference> FindDifferences(const MachinePart& part,
                                               const std::map<int64_t, MachineValues>& shards) {
  std::vector<MachineDifference> found;
  std::map<MachineValue, int64_t> seen;
  const auto has_seen = [&](const MachineValue& value) { return seen.contains(value); };
  for (const auto& [shard, own] : shards) {
    const auto other = std::ranges::find_if_not(own, has_seen);
    const auto is_own = [&own = own](const auto& known) { return own.contains(known.first); };
    const bool more = part.order == kImported && std::ranges::all_of(seen, is_own);
    if (other != own.end() && !seen.empty() && !more) {
      found.push_back({part, {seen.begin()->first, seen.begin()->second}, {*other, shard}});
    }
    for (const MachineValue& value : own) seen.emplace(value, shard);
  }
  return found;
}

bool HasValue(const ShardPart& part, const MachinePart& of, const PlacedValue& placed) {
  return std::ranges::any_of(part.end().made_with, [&](const ShardMadeWith& made) {
    return PartOf(made) == of && made.kind == placed.value.first &&
           made.value == placed.value.second &&
           std::ranges::binary_search(made.shards, placed.shard);
  });
}

// "'r.shard-0001-of-0002.json'"
std::string FileOf(const Parts& parts, const MachinePart& of, const PlacedValue& placed) {
  const auto part =
      std::ranges::find_if(parts, [&](const ShardPart& one) { return HasValue(one, of, placed); });
  return part == parts.end() ? "" : "'" + part->path() + "'";
}

// `mixed`: they may differ in anything but what scripts import.
Status Judge(const Parts& parts, const MachineDifference& found, bool mixed) {
  const std::string there = FileOf(parts, found.part, found.first);
  const std::string here = FileOf(parts, found.part, found.other);
  if (found.first.value.first == "module" && found.other.value.first == "module") {
    return Malformed(there + " and " + here + " do not belong together: the Python module '" +
                     found.part.name + "', which a script imports, has other content in " + here +
                     " than in " + there);
  }
  if (mixed) return {};
  return Malformed(DescribeDifference(found, there, here) + " (--mixed takes such parts)");
}

}  // namespace

Result<std::vector<std::string>> CheckMachines(const Parts& parts, bool mixed, Logger& logger) {
  std::map<MachinePart, std::map<int64_t, MachineValues>> all;
  for (const ShardMadeWith& made : MadeWithIn(parts)) {
    for (const int64_t shard : made.shards) all[PartOf(made)][shard].emplace(made.kind, made.value);
  }
  std::vector<std::string> notes;
  for (const auto& [part, shards] : all) {
    for (const MachineDifference& found : FindDifferences(part, shards)) {
      VERNIER_TRY(Judge(parts, found, mixed));
      const auto shard = [](const PlacedValue& placed) {
        return "shard " + std::to_string(placed.shard);
      };
      notes.push_back("--mixed: " +
                      DescribeDifference(found, shard(found.first), shard(found.other)));
    }
  }
  const ShardPart& first = parts.front();
  if (first.head().build != BuildIdentity()) {
    logger.Warning("'" + first.path() + "' was written by another build of vernier " +
                   first.head().version + " than this one: merge with that build for the record " +
                   "that it would have made");
  }
  return notes;
}

}  // namespace vernier
