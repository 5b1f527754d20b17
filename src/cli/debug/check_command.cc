#include "cli/debug/check_command.h"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <sstream>

#include "cli/batch/child_run.h"
#include "cli/commands/interruption.h"
#include "util/number_text.h"
#include "util/scratch_folder.h"

namespace vernier {
namespace {

constexpr int kPollMs = 100;

Result<std::vector<int64_t>> Codes(const ParsedArgs& args, std::string_view dest) {
  std::vector<int64_t> codes;
  for (const std::string& word : args.List(dest)) {
    const std::optional<int64_t> code = ParseInt(word);
    if (!code) {
      return InvalidArgument(std::string(args.Flag(dest)) + ": expected exit codes, got '" + word +
                             "'");
    }
    codes.push_back(*code);
  }
  return codes;
}

// std::regex reports a bad pattern by throwing.
Result<std::regex> Pattern(const std::string& text) {
  try {
    return std::regex(text);
  } catch (const std::regex_error&) {
    return InvalidArgument("--fail-regex: '" + text + "' is no regular expression");
  }
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Waits for the end, or for Ctrl-C, which the command gets too.
Result<int> Await(ChildRun& run) {
  pollfd ended{run.descriptor(), POLLIN, 0};
  while (::poll(&ended, 1, kPollMs) == 0) {
    if (const Status status = CheckInterrupted(); !status.ok()) {
      run.Stop(SIGTERM);
      (void)run.Wait();
      return status;
    }
  }
  return run.Wait();
}

}  // namespace

std::vector<std::string> TakeCheckWords(std::vector<std::string>& words) {
  const auto is_check = [](const std::string& word) {
    return word == "--check" || word == "--check-inference";
  };
  const auto at = std::find_if(words.begin(), words.end(), is_check);
  if (at == words.end()) return {};
  std::vector<std::string> check(at + 1, words.end());
  words.erase(at, words.end());
  return check;
}

Result<CheckCommand> CheckCommand::Bind(const ParsedArgs& args, std::vector<std::string> words) {
  CheckCommand check;
  if (words.empty()) {
    return InvalidArgument(
        "--check: expected a command that tells by its exit code whether an iteration is good; it "
        "takes all words behind it and has to be last");
  }
  check.words_ = std::move(words);
  VERNIER_ASSIGN_OR_RETURN(check.fail_codes_, Codes(args, "fail_codes"));
  VERNIER_ASSIGN_OR_RETURN(check.ignored_codes_, Codes(args, "ignore_fail_codes"));
  for (const std::string& word : args.List("fail_regex")) {
    VERNIER_ASSIGN_OR_RETURN(std::regex pattern, Pattern(word));
    check.patterns_.push_back(std::move(pattern));
  }
  check.show_always_ = args.Has("show_output");
  check.hide_failures_ = args.Has("hide_fail_output");
  return check;
}

bool CheckCommand::Judge(int code, const std::string& said) const {
  const auto among = [code](const std::vector<int64_t>& codes) {
    return std::find(codes.begin(), codes.end(), code) != codes.end();
  };
  if (among(ignored_codes_)) return true;
  bool matched = false;
  std::istringstream lines(said);
  for (std::string line; !patterns_.empty() && !matched && std::getline(lines, line);) {
    matched = std::any_of(patterns_.begin(), patterns_.end(), [&](const std::regex& pattern) {
      return std::regex_search(line, pattern);
    });
  }
  if (!fail_codes_.empty()) return !(among(fail_codes_) && (patterns_.empty() || matched));
  return patterns_.empty() ? code == 0 : !matched;
}

Result<bool> CheckCommand::Passes(Logger& log) const {
  VERNIER_ASSIGN_OR_RETURN(const ScratchFolder folder, ScratchFolder::Create());
  const std::string out = folder.path() + "/stdout", err = folder.path() + "/stderr";
  std::string text;
  for (const std::string& word : words_) text += (text.empty() ? "" : " ") + word;
  log.Info("Running check command: " + text);
  VERNIER_ASSIGN_OR_RETURN(ChildRun run, ChildRun::StartProgram(words_, out, err));
  VERNIER_ASSIGN_OR_RETURN(const int code, Await(run));
  const std::string said = ReadAll(out), complained = ReadAll(err);
  const bool passed = Judge(code, said + complained);
  if (show_always_ || (!passed && !hide_failures_)) {
    log.Info("========== CAPTURED STDOUT ==========\n" + said);
    log.Log(passed ? Severity::kWarning : Severity::kError,
            "========== CAPTURED STDERR ==========\n" + complained);
  }
  return passed;
}

}  // namespace vernier
