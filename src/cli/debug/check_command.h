// The command that says whether an iteration of a debugging session is good.
#pragma once

#include <regex>
#include <span>
#include <string>
#include <vector>

#include "cli/arg_parser.h"
#include "util/log.h"
#include "vernier/status.h"

namespace vernier {

/// Takes --check with all words behind it out of a command line, as the peer's parser does. Empty
/// when there is none.
std::vector<std::string> TakeCheckWords(std::vector<std::string>& words);

class CheckCommand {
 public:
  /// kInvalidArgument for a pattern that is none, and where the check has no words.
  static Result<CheckCommand> Bind(const ParsedArgs& args, std::vector<std::string> words);

  /// Runs the command and judges it by the peer's rules; patterns are looked for line by line.
  /// Tells what the command said if it failed, or always if that was asked for. kInvalidArgument
  /// for a command that cannot be started, kCancelled.
  Result<bool> Passes(Logger& log) const;

 private:
  bool Judge(int code, const std::string& said) const;

  std::vector<std::string> words_;
  std::vector<int64_t> fail_codes_, ignored_codes_;
  std::vector<std::regex> patterns_;
  bool show_always_ = false, hide_failures_ = false;
};

}  // namespace vernier
