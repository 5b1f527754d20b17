#include "debug/check_command.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <ranges>
#include <sstream>

#include "run/outcome/exit_code.h"
#include "util/files/scratch_folder.h"
#include "util/process/interruption.h"
#include "util/text/number_text.h"
#include "util/values/joined.h"

namespace vernier {
namespace {

constexpr int kPollMs = 100;
constexpr const char* kOut = "/stdout";
constexpr const char* kErr = "/stderr";
constexpr std::string_view kThisProgram = "/proc/self/exe";

// std::regex recurses for each character: of longer lines the start is searched.
constexpr size_t kLongestLine = 4000;

// std::regex reports a bad pattern by throwing.
Result<std::regex> Pattern(const std::string& text) {
  try {
    return std::regex(text);
  } catch (const std::regex_error&) {
    return InvalidArgument("--fail-regex: '" + text + "' is not a regular expression");
  }
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string CommandText(const std::vector<std::string>& words) {
  const auto shown = [](std::string_view word) { return word == kThisProgram ? "vernier" : word; };
  return Joined(words | std::views::transform(shown), " ");
}

// What both streams said; the last line of the first may lack its end.
std::string Together(const std::string& said, const std::string& complained) {
  const bool open = !said.empty() && said.back() != '\n' && !complained.empty();
  return said + (open ? "\n" : "") + complained;
}

// The last line of a run that reports an error, without its mark; else the last line.
std::string ReasonIn(const std::string& said) {
  std::istringstream lines(said);
  std::string last, reason;
  for (std::string line; std::getline(lines, line);) {
    if (!Trim(line).empty()) last = line;
    if (line.starts_with("[!] ") || line.starts_with("[E] Unrecognized")) reason = line.substr(4);
  }
  return reason.empty() ? last : reason;
}

// What a process of its own says of a gate, without what the log puts before it; empty: nothing.
std::string UndecidedIn(const std::string& said) {
  const size_t words = said.find(", passed but undecided: ");
  if (words == std::string::npos) return "";
  const size_t begin = said.rfind("--max-", words);
  const size_t end = std::min(said.find('\n', words), said.size());
  return begin == std::string::npos ? "" : said.substr(begin, end - begin);
}

// Waits for the end, or for Ctrl-C, which the command gets too.
Result<int> Await(ChildRun& run, const std::atomic<int>& interrupted) {
  pollfd ended{run.descriptor(), POLLIN, 0};
  // A signal ends poll() early, with -1.
  for (int ready = 0; ready <= 0;) {
    ready = ::poll(&ended, 1, kPollMs);
    const Status status = CheckInterrupted(interrupted);
    if (status.ok()) continue;
    run.Stop(SIGTERM);
    (void)run.Wait();
    return status;
  }
  return run.Wait();
}

// A line of standard input; nothing where there is none, or where a signal came.
std::optional<std::string> ReadLine(const std::atomic<int>& interrupted) {
  std::string line;
  while (interrupted == 0) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (::poll(&input, 1, kPollMs) <= 0) continue;
    char letter = 0;
    if (::read(STDIN_FILENO, &letter, 1) <= 0) return std::nullopt;
    if (letter == '\n') return line;
    line += letter;
  }
  return std::nullopt;
}

Result<bool> Ask(const std::string& artifact, const std::atomic<int>& interrupted) {
  std::string question =
      "Did '" + (artifact.empty() ? "this iteration" : artifact) + "' [p]ass or [f]ail?";
  while (true) {
    std::printf(">>> %s ", question.c_str());
    std::fflush(stdout);
    const std::optional<std::string> line = ReadLine(interrupted);
    if (!line) std::printf("\n");
    VERNIER_TRY(CheckInterrupted(interrupted));
    if (!line) {
      return InvalidArgument(
          "standard input is closed, so nothing can answer whether the iteration is good. Give "
          "--check, as the last option, a command whose exit code says so" +
          std::string(artifact.empty() ? "" : ". Or put options of vernier run after --"));
    }
    const int first = line->empty() ? 0 : std::tolower(static_cast<unsigned char>(line->front()));
    if (first == 'p' || first == 'f') return first == 'p';
    question = "Please choose either: 'p' or 'f':";
  }
}

}  // namespace

Result<CheckCommand> CheckCommand::Make(CheckPlan plan, const std::string& artifact,
                                        const std::atomic<int>& interrupted) {
  CheckCommand check(interrupted);
  check.own_run_ = plan.command.empty() && !plan.run_options.empty() && !artifact.empty();
  if (check.own_run_) {
    check.words_ = {std::string(kThisProgram), "run", artifact};
    check.words_.insert(check.words_.end(), plan.run_options.begin(), plan.run_options.end());
  } else if (plan.command.empty() && !plan.run_options.empty()) {
    return InvalidArgument(
        "--check: expected a command whose exit code says whether an iteration is good: "
        "there is no model that options after -- could run");
  } else {
    check.words_ = std::move(plan.command);
  }
  for (const std::string& word : plan.fail_patterns) {
    VERNIER_ASSIGN_OR_RETURN(std::regex pattern, Pattern(word));
    check.patterns_.push_back(std::move(pattern));
  }
  check.judge_ = std::move(plan.judge);
  check.reader_ = std::move(plan.reader);
  check.fail_codes_ = std::move(plan.fail_codes);
  check.ignored_codes_ = std::move(plan.ignored_codes);
  check.show_always_ = plan.show_output;
  check.hide_failures_ = plan.hide_failures;
  return check;
}

bool CheckCommand::Names(const std::string& artifact) const {
  return std::any_of(words_.begin(), words_.end(), [&](const std::string& word) {
    return word.find(artifact) != std::string::npos;
  });
}

bool CheckCommand::Judge(int code, const std::string& said, Logger& log) const {
  const auto among = [code](const std::vector<int64_t>& codes) {
    return std::find(codes.begin(), codes.end(), code) != codes.end();
  };
  if (among(ignored_codes_)) return true;
  bool matched = false;
  std::istringstream lines(said);
  for (std::string line; !patterns_.empty() && !matched && std::getline(lines, line);) {
    if (line.size() > kLongestLine) {
      log.Once(Severity::kWarning, "--fail-regex: a line of the check is longer than " +
                                       std::to_string(kLongestLine) +
                                       " characters; only its start is searched");
      line.resize(kLongestLine);
    }
    matched = std::any_of(patterns_.begin(), patterns_.end(), [&](const std::regex& pattern) {
      return std::regex_search(line, pattern);
    });
  }
  if (!fail_codes_.empty()) return !(among(fail_codes_) && (patterns_.empty() || matched));
  return patterns_.empty() ? code == 0 : !matched;
}

bool CheckCommand::HasRules() const {
  return !patterns_.empty() || !fail_codes_.empty() || !ignored_codes_.empty();
}

void CheckCommand::StayLoaded(Logger& log) {
  if (!own_run_) return;
  live_ =
      std::make_unique<LiveRun>(log, show_always_ || !patterns_.empty(), reader_, *interrupted_);
}

std::vector<std::string> CheckCommand::RunOptions() const {
  return own_run_ ? std::vector<std::string>(words_.begin() + 3, words_.end())
                  : std::vector<std::string>();
}

// A process of its own where this one cannot do what the words say.
Result<CheckCommand::Running> CheckCommand::RunHere(std::vector<std::string> words,
                                                    const Change& change, Logger& log) const {
  words.erase(words.begin(), words.begin() + 2);  // the program, "run"
  Result<RunPlan> plan = live_->Plan(words, LiveRun::Side::kCandidate);
  if (!plan.ok()) return plan.status();
  if (!LiveRun::CanRun(*plan)) {
    return Unimplemented(
        "vernier run: reports, records and pictures are not made by a check that gives TensorRT "
        "precisions; leave them out");
  }
  if (change) VERNIER_TRY(change(*plan));
  log.Verbose("It is carried out in this process");
  Running running;
  VERNIER_ASSIGN_OR_RETURN(running.ended, live_->Run(*plan));
  return running;
}

Result<CheckCommand::Running> CheckCommand::Start(const std::string& own,
                                                  const std::string& artifact, const Change& change,
                                                  Logger& log) const {
  if (judge_) {
    Running asked;
    VERNIER_ASSIGN_OR_RETURN(asked.answer, judge_(artifact));
    VERNIER_TRY(CheckInterrupted(*interrupted_));
    return asked;
  }
  if (words_.empty()) {
    Running asked;
    VERNIER_ASSIGN_OR_RETURN(asked.answer, Ask(artifact, *interrupted_));
    return asked;
  }
  std::vector<std::string> words = words_;
  for (std::string& word : words) {
    if (own == artifact) break;
    for (size_t at = word.find(own); at != std::string::npos;
         at = word.find(own, at + artifact.size())) {
      word.replace(at, own.size(), artifact);
    }
  }
  log.Info("Running check command: " + CommandText(words));
  if (live_ != nullptr) {
    Result<Running> ended = RunHere(words, change, log);
    const StatusCode code = ended.status().code();
    const bool elsewhere =
        code == StatusCode::kInvalidArgument || code == StatusCode::kUnimplemented;
    if (change || !elsewhere) return ended;
  } else if (change) {
    return InvalidArgument(
        "TensorRT's layers can be given precisions only where checks run one by one");
  }
  VERNIER_ASSIGN_OR_RETURN(ScratchFolder folder, ScratchFolder::Create());
  VERNIER_ASSIGN_OR_RETURN(
      ChildRun run, ChildRun::StartProgram(words, folder.path() + kOut, folder.path() + kErr));
  return Running{std::move(run), std::move(folder), {}, std::nullopt};
}

Result<bool> CheckCommand::Finish(Running running, Logger& log) {
  if (running.answer) return *running.answer;
  int code = running.ended.code;
  std::string said = std::move(running.ended.said), complained = running.ended.reason;
  std::string reason = complained;
  if (running.run) {
    VERNIER_ASSIGN_OR_RETURN(code, Await(*running.run, *interrupted_));
    said = ReadAll(running.said->path() + kOut);
    complained = ReadAll(running.said->path() + kErr);
    reason = ReasonIn(Together(said, complained));
  }
  const bool about_model = code != kUsageCode && code != kUnavailableCode && code != kUnsavedCode;
  if (own_run_ && !about_model) return ErrorOfExitCode(code, "vernier run: " + reason);
  if (own_run_ && !HasRules()) VERNIER_TRY(running.ended.judged);
  const bool passed = own_run_ && !HasRules() ? JudgeOwnRun(code, reason, log)
                                              : Judge(code, Together(said, complained), log);
  if (passed && own_run_) {
    undecided_ = running.run ? UndecidedIn(Together(said, complained)) : running.ended.undecided;
  }
  if (show_always_ || (!passed && !hide_failures_ && !own_run_)) {
    log.Info("========== CAPTURED STDOUT ==========\n" + said);
    log.Log(passed ? Severity::kWarning : Severity::kError,
            "========== CAPTURED STDERR ==========\n" + complained);
  }
  return passed;
}

bool CheckCommand::JudgeOwnRun(int code, const std::string& reason, Logger& log) {
  if (code == 0) return true;
  // A mismatch is what was looked for; anything else may be a mistake.
  log.Log(code == kMismatchCode ? Severity::kVerbose : Severity::kInfo,
          "vernier run ended with exit code " + std::to_string(code) +
              (reason.empty() ? "" : ": " + reason));
  if (fault_ == 0) fault_ = code;
  if (!same_fault_ || code == fault_) return false;
  log.Info("That is a different fault from the first one, whose exit code was " +
           std::to_string(fault_) + ": it counts as passed");
  return true;
}

Status RunToTheEnd(std::vector<std::string> words, const std::atomic<int>& interrupted) {
  VERNIER_ASSIGN_OR_RETURN(const ScratchFolder folder, ScratchFolder::Create());
  words.insert(words.begin(), std::string(kThisProgram));
  const std::string err = folder.path() + kErr;
  VERNIER_ASSIGN_OR_RETURN(ChildRun run, ChildRun::StartProgram(words, folder.path() + kOut, err));
  VERNIER_ASSIGN_OR_RETURN(const int code, Await(run, interrupted));
  return EndOfRun(code,
                  code == 0 ? "" : ReasonIn(Together(ReadAll(folder.path() + kOut), ReadAll(err))));
}

Status EndOfRun(int code, const std::string& reason) {
  if (code == 0) return {};
  return ErrorOfExitCode(
      code, "vernier run ended with exit code " + std::to_string(code) + ": " + reason);
}

}  // namespace vernier
