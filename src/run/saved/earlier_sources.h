// What results that --resume takes over were computed with, against what this run computes with.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "io/journal/journal.h"
#include "util/log/log.h"

namespace vernier {

struct SourceDifference {
  std::string what;     ///< a sentence without its full stop; empty: nothing differs
  bool always = false;  ///< it is a module, as good as another script, or a setting
};

/// The first of what was there that is another now. A module that is not imported now is looked at
/// where it was; what was there on one side alone is no difference: scripts import some modules
/// when they need them.
SourceDifference FindOtherSource(const std::vector<JournalSource>& there,
                                 const std::vector<JournalSource>& now);

/// What parts say of theirs.
class EarlierSources {
 public:
  /// Adds those of a folder of parts.
  void Read(const std::string& parts);

  /// Adds those that something else says.
  void Add(std::vector<JournalSource> sources);

  /// Why a run that computes with `now` must not take the results over; empty: it may. Only shards
  /// must not with another machine or package: `merge` could not tell. Elsewhere that is a warning,
  /// once.
  std::string WhyNot(const std::vector<JournalSource>& now, bool of_shard, Logger& logger);

  const std::vector<JournalSource>& all() const { return all_; }
  /// What was warned of last.
  const std::string& warned() const { return warned_; }

 private:
  std::vector<JournalSource> all_;
  std::string warned_;
};

/// Those of a run, each once.
class KnownSources {
 public:
  /// The lines of the journal for those that are new, with the hashes of modules' files.
  std::string AddLines(const std::vector<JournalSource>& sources);

 private:
  std::set<JournalSource> known_;  // without hashes
};

}  // namespace vernier
