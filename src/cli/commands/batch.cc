// Many models with the same options: a process each, one table.
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include "cli/batch/batch_models.h"
#include "cli/batch/batch_result.h"
#include "cli/batch/child_run.h"
#include "cli/commands/command_start.h"
#include "cli/commands/commands.h"
#include "cli/commands/interruption.h"
#include "cli/option_sets.h"
#include "cli/script/shell_command.h"
#include "record/record_digest.h"
#include "record/runner_name.h"
#include "report/junit.h"
#include "report/report_files.h"
#include "util/atomic_file.h"
#include "util/scratch_folder.h"
#include "vernier/run_record.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr size_t kLargestMessages = 5;
constexpr int kChildPollMs = 200;
constexpr std::string_view kFailed = " | FAILED: ";

std::string ReadLog(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// When the file was written; of none, a time before all others.
fs::file_time_type TimeOf(const std::string& path) {
  std::error_code error;
  const fs::file_time_type time = fs::last_write_time(path, error);
  return error ? fs::file_time_type::min() : time;
}

// "onnxrt" of "onnxrt-runner-N0-11/23/26-05:00:13"; a second one of a kind keeps its number.
std::string LabelOf(const std::string& runner) {
  constexpr std::string_view kFirst = "-runner-N0";
  std::string label = WithoutTime(runner);
  if (label != runner && label.ends_with(kFirst)) label.resize(label.size() - kFirst.size());
  return label;
}

// The critical lines of a log, without their letters.
std::vector<std::string> MessagesOf(const std::string& log) {
  std::vector<std::string> messages;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line) && messages.size() < kLargestMessages;) {
    if (!line.starts_with("[!] ")) continue;
    std::string text = line.substr(4);
    // The name of a runner stands in a column of its own.
    const size_t failed = text.find(kFailed);
    if (failed != std::string::npos) {
      const size_t end = text.find_last_not_of(' ', failed) + 1;
      text = LabelOf(text.substr(0, end)) + ": " + text.substr(failed + kFailed.size());
    }
    messages.push_back(std::move(text));
  }
  return messages;
}

class Batch {
 public:
  Batch(std::vector<BatchModel> models, std::vector<std::string> options, std::string log_folder,
        const Invocation& invocation, ConsoleLog& log)
      : models_(std::move(models)),
        options_(std::move(options)),
        log_folder_(std::move(log_folder)),
        invocation_(invocation),
        log_(log) {}

  Status Run(size_t jobs) {
    VERNIER_ASSIGN_OR_RETURN(ScratchFolder scratch, ScratchFolder::Create());
    scratch_ = scratch.path();
    if (!log_folder_.empty()) VERNIER_TRY(CreateDirectories(log_folder_));
    for (const BatchModel& model : models_) {
      VERNIER_ASSIGN_OR_RETURN(RunWords run, RunWordsFor(model, options_));
      std::vector<std::string> words = std::move(run.words);
      BatchResult result;
      result.model = model.path;
      words.insert(words.begin(), {invocation_.words.front(), "run"});
      Invocation again = invocation_;
      again.words = words;
      result.command = ReproCommand(again);
      results_.push_back(std::move(result));
      const std::string own_record = scratch_ + "/" + std::to_string(records_.size()) + ".json";
      if (run.record.empty()) words.push_back("--save-record=" + own_record);
      records_.push_back(run.record.empty() ? own_record : run.record);
      commands_.push_back(std::move(words));
    }
    has_record_.resize(models_.size());
    const std::atomic<int>& interrupted = WatchSignals();
    while ((next_ < models_.size() && interrupted == 0) || !running_.empty()) {
      while (interrupted == 0 && next_ < models_.size() && running_.size() < jobs) {
        VERNIER_TRY(StartNext());
      }
      AwaitOne();
      if (interrupted != 0) StopAll(interrupted);
    }
    CompleteRecords();
    return {};
  }

  const std::vector<BatchResult>& results() const { return results_; }
  /// Of every model, in their order; call KeepRecords() before Run().
  const std::vector<NamedRecord>& records() const { return kept_; }
  void KeepRecords() { kept_.resize(models_.size()); }

 private:
  struct Running {
    size_t index;
    ChildRun child;
    Clock::time_point start;
    fs::file_time_type record_before;
  };

  std::string LogOf(size_t index) const {
    return (log_folder_.empty() ? scratch_ : log_folder_) + "/" + models_[index].stem + ".log";
  }

  Status StartNext() {
    const size_t index = next_++;
    results_[index].started = true;
    const fs::file_time_type before = TimeOf(records_[index]);
    VERNIER_ASSIGN_OR_RETURN(ChildRun child, ChildRun::Start(commands_[index], LogOf(index)));
    running_.push_back({index, std::move(child), Clock::now(), before});
    return {};
  }

  // Waits for an end, or for some time, so that signals are seen.
  void AwaitOne() {
    std::vector<pollfd> ends;
    for (const Running& run : running_) ends.push_back({run.child.descriptor(), POLLIN, 0});
    (void)::poll(ends.data(), ends.size(), kChildPollMs);
    for (size_t i = ends.size(); i-- > 0;) {
      if (ends[i].revents == 0) continue;
      Finish(running_[i]);
      running_.erase(running_.begin() + static_cast<ptrdiff_t>(i));
    }
  }

  void Finish(Running& run) {
    BatchResult& result = results_[run.index];
    result.exit_code = run.child.Wait();
    result.seconds = std::chrono::duration<double>(Clock::now() - run.start).count();
    const std::string text = ReadLog(LogOf(run.index));
    result.messages = MessagesOf(text);
    const std::string& record = records_[run.index];
    // A run that came to no record may have left that of an earlier one.
    if (TimeOf(record) != run.record_before) {
      Result<RunRecord> read = ReadRecord(ReadLog(record), record);
      if (read.ok()) {
        result.digest = DigestOf(*read);
        Keep(run.index, *std::move(read));
      }
    }
    ++finished_;
    log_.Info("[" + std::to_string(finished_) + "/" + std::to_string(models_.size()) + "] " +
              result.model + ": " + BatchVerdict(result));
    if (log_.Enabled(Severity::kVerbose)) {
      log_.Plain(text);
    } else if (result.exit_code != 0) {
      for (const std::string& message : result.messages) log_.Error(result.model + ": " + message);
    }
    ReportUnsavedLog(LogOf(run.index), result);
  }

  // A run that could not write its log could say so nowhere.
  void ReportUnsavedLog(const std::string& path, BatchResult& result) {
    constexpr int kUnsaved = 7;
    if (result.exit_code != kUnsaved || !result.messages.empty()) return;
    errno = 0;
    std::ofstream file(path, std::ios::binary | std::ios::app);
    file << '\n' << std::flush;
    const std::string why =
        !file && errno != 0 ? std::strerror(errno) : "not all of it was written";
    result.messages.push_back("'" + path + "': the log of the run could not be saved: " + why);
    if (!std::exchange(unsaved_log_, true)) log_.Critical(result.messages.front());
  }

  // What a report tells of: tensors' charts and graphs of many models are not among it.
  void Keep(size_t index, RunRecord record) {
    if (kept_.empty()) return;
    record.graph.reset();
    kept_[index].record = std::move(record);
    has_record_[index] = true;
  }

  // A run that left no record is a case of its own: never a pass, and never missing.
  void CompleteRecords() {
    for (size_t i = 0; i < kept_.size(); ++i) {
      const BatchResult& result = results_[i];
      kept_[i].name = result.model;
      if (has_record_[i]) continue;
      RunRecord& record = kept_[i].record;
      constexpr int kIncomplete = 4;
      record.exit_code = result.exit_code != 0 ? result.exit_code : kIncomplete;
      record.seconds = result.seconds;
      record.error = result.messages.empty() ? BatchVerdict(result) : result.messages.front();
    }
  }

  void StopAll(int signal) {
    if (stopped_) return;
    stopped_ = true;
    for (Running& run : running_) run.child.Stop(signal);
  }

  std::vector<BatchModel> models_;
  std::vector<std::string> options_;
  std::string log_folder_;
  const Invocation& invocation_;
  ConsoleLog& log_;
  std::string scratch_;
  std::vector<BatchResult> results_;
  std::vector<std::vector<std::string>> commands_;
  std::vector<std::string> records_;  // where each run leaves its record
  std::vector<NamedRecord> kept_;     // empty where no report is wanted
  std::vector<bool> has_record_;
  std::deque<Running> running_;
  size_t next_ = 0;
  size_t finished_ = 0;
  bool stopped_ = false;
  bool unsaved_log_ = false;  // and the first of those was reported
};

Result<size_t> JobsOf(const ParsedArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(const std::optional<int64_t> jobs, args.Int("jobs"));
  if (jobs && *jobs < 0) {
    return InvalidArgument("--jobs: expected a number >= 0, got " + std::to_string(*jobs));
  }
  const size_t processors = std::max(1u, std::thread::hardware_concurrency());
  if (!jobs) return size_t{1};
  return *jobs == 0 ? processors : static_cast<size_t>(*jobs);
}

// The one report for all, or nothing.
Result<std::optional<ReportFile>> ReportOf(const ParsedArgs& args) {
  const auto path = args.Value("reports");
  if (!path) return std::optional<ReportFile>();
  const Result<ReportFile> report = ReportFileFor("--report", std::string(*path));
  if (report.ok() && report->format == ReportFormat::kJunit) return std::optional(*report);
  return InvalidArgument(
      "--report: expected a file that ends in .xml (JUnit) for all models, got '" +
      std::string(*path) + "'; behind -- it is one for each model");
}

int BatchCommand(std::span<const std::string> words, const Invocation& invocation) {
  const auto end = std::find(words.begin(), words.end(), "--");
  const std::vector<std::string> own(words.begin(), end);
  std::vector<std::string> options;
  if (end != words.end()) options.assign(end + 1, words.end());
  const CommandStart start = StartCommand(kBatchCommand, own, invocation);
  if (start.exit_code) return *start.exit_code;
  ConsoleLog& log = *start.log;
  if (options.empty()) {
    return EndCommand(InvalidArgument("what to do with each model goes behind --, for example: "
                                      "vernier batch '*.onnx' -- --onnxrt --openvino"),
                      invocation, log);
  }
  const Result<std::vector<BatchModel>> models = FindBatchModels(start.args.List("models"));
  if (!models.ok()) return EndCommand(models.status(), invocation, log);
  const Result<size_t> jobs = JobsOf(start.args);
  if (!jobs.ok()) return EndCommand(jobs.status(), invocation, log);
  const Result<std::optional<ReportFile>> report = ReportOf(start.args);
  if (!report.ok()) return EndCommand(report.status(), invocation, log);
  Batch batch(*models, options, std::string(start.args.Value("log_dir").value_or("")), invocation,
              log);
  if (*report) batch.KeepRecords();
  if (const Status status = batch.Run(*jobs); !status.ok()) {
    return EndCommand(status, invocation, log);
  }
  log.Plain(FormatBatch(batch.results()));
  RunFaults faults = FaultsOf(batch.results());
  faults.signal = ReceivedSignal();
  if (*report) {
    log.Info("Saving report to " + (*report)->path);
    const Status saved = WriteFileAtomically((*report)->path, FormatJunit(batch.records()));
    if (!saved.ok()) log.Critical(saved.message());
    faults.Add(saved);
  }
  if (!log.Close()) faults.unsaved = true;
  return ExitCode(faults, invocation.as_peer);
}

}  // namespace

constexpr CommandSpec kBatchCommand = {
    .name = "batch",
    .section = CommandSection::kCompare,
    .operands = "model [model ...] [options ...] -- RUN OPTIONS",
    .summary = "run many models with the same options and summarize the results in one table",
    .about =
        "Run each model as vernier run MODEL RUN OPTIONS would, in a process of its own, so that a"
        " crash of one run does not end the others. Each file that a run saves gets the model's"
        " stem in its name (out.json becomes STEM-out.json, a folder DIR becomes DIR/STEM); {stem}"
        " in a path says where else the stem goes. The exit code is that of the worst run.",
    .options =
        [] {
          return OptionTable({GeneralGroup(), BatchGroup(), LoggingGroup()});
        },
    .run = BatchCommand,
};

}  // namespace vernier
