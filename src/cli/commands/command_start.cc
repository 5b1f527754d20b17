#include "cli/commands/command_start.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "cli/commands/interruption.h"
#include "options/bind/file_conflicts.h"
#include "options/bind/option_use.h"
#include "options/bind/run_file.h"
#include "options/table/command_options.h"
#include "options/table/command_words.h"
#include "options/table/document_format.h"
#include "options/table/given_field.h"
#include "options/words/flag_suggestion.h"
#include "options/words/repeated_words.h"
#include "run/outcome/exit_code.h"
#include "util/text/number_text.h"
#include "util/text/shell_words.h"

namespace vernier {
namespace {

CommandStart End(int exit_code) {
  CommandStart start;
  start.exit_code = exit_code;
  return start;
}

CommandStart UsageError(const CommandSpec& command, const std::string& message) {
  std::fputs(FormatUsageError(command, message).c_str(), stderr);
  return End(2);
}

// "--compare l2" of --metric l2, "--atol" of --atl: the flag, with the value that the unknown one
// was given.
std::string WithItsValue(const OptionTable& table, const std::string& flag,
                         std::span<const std::string> words, const std::string& unknown) {
  const FlagEntry* entry = table.Find(flag);
  const auto at = std::ranges::find(words, unknown);
  const bool takes_one = entry != nullptr && entry->row->arity != Arity::kNone;
  if (!takes_one || at == words.end()) return flag;
  const size_t equals = unknown.find('=');
  if (equals != std::string::npos) return flag + " " + QuoteForShell(unknown.substr(equals + 1));
  const auto value = at + 1;
  return value == words.end() || value->starts_with('-') ? flag
                                                         : flag + " " + QuoteForShell(*value);
}

CommandStart UnknownOptions(const CommandSpec& command, std::span<const std::string> words,
                            const std::vector<std::string>& unknown, const Invocation& invocation) {
  const OptionTable table = command.options();
  std::fprintf(stdout, "[E] Unrecognized Options: %s\n", FormatPythonList(unknown).c_str());
  if (const std::string where = ExplainElsewhere(command, unknown.front()); !where.empty()) {
    std::fprintf(stdout, "    %s\n", where.c_str());
  } else if (const std::optional<std::string> suggestion = SuggestFlag(table, unknown.front())) {
    std::fprintf(stdout, "    Did you mean %s?\n",
                 WithItsValue(table, *suggestion, words, unknown.front()).c_str());
  }
  if (const std::string why = ExplainSurplus(table, words, unknown.front()); !why.empty()) {
    std::fprintf(stdout, "    %s\n", why.c_str());
  }
  return End(invocation.as_polygraphy ? 1 : 2);
}

// Empty, or a flag of run that the command lacks and that was taken for the beginning of another of
// its flags: --strict is none for --strict-external-data.
std::string MistakenFlag(const OptionTable& table, std::span<const std::string> words,
                         const ParsedArgs& args) {
  for (const GivenOption& given : args.given()) {
    if (given.flag.empty() || given.position >= words.size()) continue;
    const std::string& word = words[given.position];
    const std::string written = word.substr(0, word.find('='));
    if (!written.starts_with("--") || table.Find(written) != nullptr) continue;
    if (RunOptionTable().Find(written) != nullptr) return written;
  }
  return "";
}

// The files of such a run are named within the file. What cannot be read is reported when it is
// used.
Status CheckLogBesideRunFile(const ParsedArgs& args) {
  if (!IsGiven<&RunCall::plan_file>(args) || !IsGiven<&LogWords::file>(args)) return {};
  const Status status = LoadRunFile(args).status();
  return status.code() == StatusCode::kInvalidArgument ? status : Status();
}

// What is read by the runs that a command starts. Their options stand behind "--", where the
// command's own `words` end.
std::vector<std::string> FilesOfRuns(std::span<const std::string> words,
                                     const Invocation& invocation) {
  const std::vector<std::string>& all = invocation.words;
  const auto end = std::ranges::find(all, "--");
  if (end == all.end() || std::ranges::find(words, "--") != words.end()) return {};
  const OptionTable table = RunOptionTable();
  const ParseResult runs = ParseCommandLine(table, std::vector<std::string>(end + 1, all.end()));
  return runs.end == ParseEnd::kParsed ? FilesRead(runs.args) : std::vector<std::string>();
}

CommandStart EndWith(const Status& status, int exit_code) {
  std::fprintf(stderr, "[!] %s\n", status.message().c_str());
  return End(exit_code);
}

void TakeOperands(std::vector<std::string>& unknown, std::vector<std::string>& operands) {
  for (const std::string& word : unknown) {
    if (!word.starts_with('-')) operands.push_back(word);
  }
  std::erase_if(unknown, [](const std::string& word) { return !word.starts_with('-'); });
}

}  // namespace

CommandStart StartCommand(const CommandSpec& command, std::span<const std::string> words,
                          const Invocation& invocation, std::vector<std::string>* surplus) {
  const OptionTable table = command.options();
  ParseResult parsed = ParseCommandLine(table, words);
  if (parsed.end == ParseEnd::kHelp) {
    const size_t width = HelpWidth(std::getenv("COLUMNS"));
    std::fputs(FormatHelp(table, command, width).c_str(), stdout);
    return End(0);
  }
  if (parsed.end == ParseEnd::kUsageError) {
    const bool own = !invocation.as_polygraphy && !parsed.own_error.empty();
    return UsageError(command, own ? parsed.own_error : parsed.error);
  }
  if (table.FindDest("runners") != nullptr) TakePluginOptions(parsed);
  if (surplus != nullptr) TakeOperands(parsed.unknown, *surplus);
  if (!parsed.unknown.empty()) return UnknownOptions(command, words, parsed.unknown, invocation);
  // Before the log is opened: it may be one of the files.
  const std::vector<std::string> of_runs = FilesOfRuns(words, invocation);
  const int usage_code = invocation.as_polygraphy ? 1 : 2;
  Status status = CheckFileConflicts(parsed.args, {}, of_runs);
  if (!status.ok()) return EndWith(status, usage_code);
  status = CheckLogBesideRunFile(parsed.args);
  if (!status.ok()) return EndWith(status, 2);
  const bool lenient = invocation.as_polygraphy || ReadField<&Leniency::lenient>(parsed.args);
  const std::string mistaken = lenient ? "" : MistakenFlag(table, words, parsed.args);
  if (!mistaken.empty()) return UnknownOptions(command, words, {mistaken}, invocation);
  const UseOf whose = lenient ? UseOf::kOwnOptions : UseOf::kAllOptions;
  status = CheckOptionUse(table, parsed.args, whose);
  if (!status.ok()) return EndWith(status, usage_code);
  const Result<ConsoleLogOptions> options = BindLog(parsed.args);
  if (!options.ok()) return EndWith(options.status(), usage_code);
  Result<std::unique_ptr<ConsoleLog>> log = ConsoleLog::Create(*options);
  if (!log.ok()) return EndWith(log.status(), invocation.as_polygraphy ? 1 : 7);
  const bool document = WantsDocument(parsed.args);  // with nothing beside it
  if (!lenient && !document) {
    for (const std::string& text : RepeatedValueWarnings(parsed.args)) (*log)->Warning(text);
    for (const std::string& text : IdleOptionWarnings(table, parsed.args)) (*log)->Warning(text);
  }
  return {.exit_code = std::nullopt, .args = std::move(parsed.args), .log = *std::move(log)};
}

int EndCommand(const Status& work, const Invocation& invocation, ConsoleLog& log) {
  RunFaults faults;
  faults.Add(work);
  if (work.code() == StatusCode::kCancelled) faults.signal = ReceivedSignal();
  if (!work.ok()) log.Critical(work.message());
  return CloseLog(log, ExitCode(faults, invocation.as_polygraphy), invocation);
}

int CloseLog(ConsoleLog& log, int code, const Invocation& invocation) {
  if (log.Close()) return code;
  std::fprintf(stderr, "[!] --log-file: not everything could be written\n");
  return WithUnsaved(code, invocation.as_polygraphy);
}

}  // namespace vernier
