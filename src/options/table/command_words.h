// Words for commands that belong to no plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "vernier/run_plan.h"

namespace vernier {

/// Of the commands that make one file: where it goes.
struct NewFile {
  std::string path;
};

/// What a command logs and shows while it works.
struct LogWords {
  std::vector<std::string> levels;  ///< [PATH:]LEVEL
  int louder = 0;                   ///< how often -v was given more than -q
  bool silent = false;              ///< critical messages only
  bool timestamp = false, line_info = false, no_colors = false;
  std::optional<std::string> file;  ///< also written there; empty: nowhere
  bool no_progress = false;
};

/// --output-dir: where results go that are named without a folder. Empty: where they are named.
struct ResultFolder {
  std::string path;
};

/// What is asked of `check lint` beside its plan.
struct LintWords {
  bool no_run = false;      ///< rules alone: no runner, not even the default one
  bool list_rules = false;  ///< nothing but a list of the rules
};

/// --shard and its company, as they were given.
struct ShardWords {
  std::optional<std::string> shard;
  ShardRule rule = ShardRule::kContiguous;
  bool ends_done = false;
};

}  // namespace vernier
