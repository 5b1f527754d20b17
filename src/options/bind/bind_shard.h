// --shard: which of the processes that share a run this one is.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "options/words/arg_parser.h"
#include "util/log/log.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// The value of an environment variable; nullopt where it is not set.
using EnvironmentOf = std::function<std::optional<std::string>(const char* name)>;

/// Those of this process.
EnvironmentOf OwnEnvironment();

/// "2/3": as --shard has it.
std::string ShardText(const ShardPlan& shard);

/// The shard that `word` stands for: "K/N", or "auto" and "auto/N" by what launchers have set.
/// `where` gets how it was found; empty where it was given. kInvalidArgument: no such word, no
/// launcher, or launchers that differ.
Result<ShardPlan> ReadShard(std::string_view word, const EnvironmentOf& environment,
                            std::string& where);

/// The shard that the command line names; nullopt where it names none. `where` and errors as
/// ReadShard().
Result<std::optional<ShardPlan>> FindShard(const ParsedArgs& args, std::string& where);

/// One line of the log that says what 'auto' has found; nothing where `where` is empty. A warning
/// where it is the only shard.
void LogShard(std::string_view word, const ShardPlan& shard, const std::string& where,
              Logger& logger);

/// Sets the plan's shard, and gives what it saves names of its own. Runners have names without a
/// time where shards or records need to be alike. Once what is saved is known.
Status BindShard(const ParsedArgs& args, RunPlan& plan, Logger& logger);

/// The name that `path`, which every shard writes, has in the shard that --shard names; `path`
/// itself where there is none, or it is not known.
std::string NameOfShard(const ParsedArgs& args, const std::string& path);

}  // namespace vernier
