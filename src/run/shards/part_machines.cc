#include "run/shards/part_machines.h"

#include <algorithm>
#include <map>
#include <set>

#include "run/shards/build_identity.h"
#include "util/counted.h"

namespace vernier {
namespace {

std::string MachineOf(const ShardEnd& end, size_t place) {
  const RunnerRecord& runner = end.runners[place];
  const int64_t threads = place < end.threads.size() ? end.threads[place] : 0;
  return runner.backend + " " + runner.framework_version + " on " + runner.device + ", " +
         runner.precision + (threads > 0 ? ", " + Counted(threads, "thread") : "");
}

// Which of the modules of one name some Python workers have.
struct SeenModules {
  const ShardPart* part = nullptr;  // the first that has any
  std::set<ShardModule> modules;
};

bool Contains(const std::set<ShardModule>& all, const std::set<ShardModule>& some) {
  return std::ranges::includes(all, some);
}

class MachineCheck {
 public:
  MachineCheck(bool mixed, std::vector<std::string>& notes) : mixed_(mixed), notes_(notes) {}

  // What runs may be merged in spite of.
  Status Differs(const std::string& what) {
    if (!mixed_) return Malformed(what + " (--mixed takes such parts)");
    notes_.push_back("--mixed: " + what);
    return {};
  }

  Status CheckBuild(const ShardPart& first, const ShardPart& part) {
    if (part.head().build == first.head().build) return {};
    return Differs("vernier " + part.head().version + " was one build of it in '" + first.path() +
                   "' (" + first.head().build + "), and another in '" + part.path() + "' (" +
                   part.head().build + ")");
  }

  Status CheckRunners(const ShardPart& first, const ShardPart& part) {
    for (size_t i = 0; i < part.end().runners.size(); ++i) {
      const std::string here = MachineOf(part.end(), i), there = MachineOf(first.end(), i);
      if (here == there) continue;
      VERNIER_TRY(Differs("runner '" + part.end().runners[i].name + "' was " + there + " in '" +
                          first.path() + "', and " + here + " in '" + part.path() + "'"));
    }
    return {};
  }

  // A module that only one of them has imported is none that differs: scripts import some when they
  // need them.
  Status CheckModules(const ShardPart& part) {
    std::map<std::string, std::set<ShardModule>> own;
    for (const ShardModule& module : part.end().modules) own[module.name].insert(module);
    for (const auto& [name, modules] : own) {
      SeenModules& seen = seen_[name];
      if (seen.part == nullptr) seen = {&part, modules};
      if (Contains(seen.modules, modules)) continue;
      if (!Contains(modules, seen.modules)) VERNIER_TRY(OtherModule(seen, part, modules));
      seen.modules.insert(modules.begin(), modules.end());
    }
    return {};
  }

 private:
  Status OtherModule(const SeenModules& seen, const ShardPart& part,
                     const std::set<ShardModule>& modules) {
    const ShardModule &there = *seen.modules.begin(), &here = *modules.begin();
    const std::string where = "'" + seen.part->path() + "'", here_in = "'" + part.path() + "'";
    if (!there.content.empty() && !here.content.empty()) {
      return Malformed(where + " and " + here_in + " do not belong together: the Python module '" +
                       here.name + "', which a script imports, has other content in " + here_in +
                       " than in " + where);
    }
    const auto version = [](const ShardModule& module) {
      return module.version.empty() ? std::string("no installed package") : module.version;
    };
    return Differs("the Python package '" + here.name + "' was " + version(there) + " in " + where +
                   ", and " + version(here) + " in " + here_in);
  }

  bool mixed_;
  std::vector<std::string>& notes_;
  std::map<std::string, SeenModules> seen_;
};

}  // namespace

Status CheckMachines(const std::vector<ShardPart>& parts, bool mixed,
                     std::vector<std::string>& notes, Logger& logger) {
  MachineCheck check(mixed, notes);
  const ShardPart& first = parts.front();
  for (const ShardPart& part : parts) {
    VERNIER_TRY(check.CheckBuild(first, part));
    VERNIER_TRY(check.CheckRunners(first, part));
    VERNIER_TRY(check.CheckModules(part));
  }
  if (first.head().build != BuildIdentity()) {
    logger.Warning("'" + first.path() + "' was written by another build of vernier " +
                   first.head().version + " than this one: merge with that build for the record " +
                   "that it would have made");
  }
  return {};
}

}  // namespace vernier
