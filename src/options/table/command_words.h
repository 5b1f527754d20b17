// Words for commands that belong to no plan.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "options/table/option_binding.h"
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

/// --lenient: warn, as Polygraphy does, where we fail.
struct Leniency {
  bool lenient = false;
};

/// What is asked of `run` beside its plan.
struct RunCall {
  bool blames = false;                   ///< afterwards, as `blame` does
  std::optional<std::string> plan_file;  ///< which has the plan, in place of the other options
  std::optional<std::string> save_plan_file;
  std::optional<std::string> script;  ///< is written in place of a run; "-": printed
};

/// Of feeds what is only read together with their source and the runners.
struct FeedWords {
  std::vector<std::string> shapes;      ///< NAME:SHAPE, several of a name in turn
  std::vector<std::string> dims;        ///< NAME=SIZE
  std::optional<std::string> function;  ///< of the script that makes them
};

/// Tensors that become outputs of every runner, or cease to be.
struct MarkWords {
  bool all = false;
  std::vector<std::string> excluded;
  // The same, and they are saved.
  std::optional<std::vector<std::string>> kept;  ///< none named: all
  bool keeps_all = false;

  bool keeps() const { return kept.has_value() || keeps_all; }
};

/// Saved outputs to compare with: [LABEL=]PATH.
struct SavedSideWords {
  std::vector<std::string> loaded;
};

/// What is looked at before a tool of the Python worker starts.
struct PythonToolWords {
  std::optional<std::string> plugin_dir;
  std::optional<std::string> hint_file;
  bool one_shot = false;
};

/// Of models that must become ONNX first.
struct TensorFlowWords {
  std::optional<std::string> checkpoint;
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

/// The words that are given, of a struct whose options all accept any: levels, paths and the like
/// are checked where they are used.
template <typename Words>
Words ReadWords(const ParsedArgs& args, const BindContext& context = {}) {
  Words words;
  (void)BindOptions(args, context, {words});
  return words;
}

}  // namespace vernier
