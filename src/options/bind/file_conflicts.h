// A command that would write over what it reads, or write two things to one place.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options/words/arg_parser.h"
#include "vernier/status.h"

namespace vernier {

/// kInvalidArgument, in one sentence, where a file that options write is one that the command line
/// reads (models and their weights, saved data, scripts, files of words, files that runners name),
/// or where two of them write the same. Devices and pipes never conflict. The dest "output" may be
/// what is read, as commands that change a file in place have it, unless `output` names it.
/// `also_read` are files that others read: nothing may replace them. As CheckBundlePlace, too.
Status CheckFileConflicts(const ParsedArgs& args, std::string_view output = {},
                          std::span<const std::string> also_read = {});

/// One command of several that are started together.
struct NamedCommand {
  std::string name;                    ///< for messages: "'m.onnx'", "the batch"
  const ParsedArgs* args;              ///< not null
  std::vector<std::string> logs = {};  ///< that --log-dir has it write
};

/// kInvalidArgument, in one sentence, where a file that one of the commands writes is one that
/// another reads, as above, or writes too; caches may be shared. What is wrong with one command by
/// itself is CheckFileConflicts()'s.
Status CheckFilesBetween(std::span<const NamedCommand> commands);

/// The files that the command line names to be read, in no order; without weights of models.
std::vector<std::string> FilesRead(const ParsedArgs& args);

/// kInvalidArgument, in one sentence, where the folder of --bundle holds something that is no
/// bundle, or that the command line reads or writes otherwise. Ok without --bundle.
Status CheckBundlePlace(const ParsedArgs& args);

}  // namespace vernier
