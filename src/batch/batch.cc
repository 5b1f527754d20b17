#include "batch/batch.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "record/schema/runner_name.h"
#include "util/files/atomic_file.h"
#include "util/files/scratch_folder.h"
#include "util/process/child_run.h"
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
  Batch(const BatchPlan& plan, const std::atomic<int>& interrupted, Logger& log)
      : plan_(plan), interrupted_(interrupted), log_(log) {}

  Result<BatchOutcome> Run() {
    VERNIER_ASSIGN_OR_RETURN(ScratchFolder scratch, ScratchFolder::Create());
    scratch_ = scratch.path();
    if (!plan_.log_folder.empty()) VERNIER_TRY(CreateDirectories(plan_.log_folder));
    for (const BatchRun& run : plan_.runs) {
      BatchResult result;
      result.model = run.model;
      result.command = run.command;
      results_.push_back(std::move(result));
      std::vector<std::string> words = run.words;
      const std::string own_record = scratch_ + "/" + std::to_string(records_.size()) + ".json";
      if (run.record.empty()) words.push_back("--save-record=" + own_record);
      records_.push_back(run.record.empty() ? own_record : run.record);
      commands_.push_back(std::move(words));
    }
    has_record_.resize(plan_.runs.size());
    if (plan_.keep_records) kept_.resize(plan_.runs.size());
    while ((next_ < plan_.runs.size() && interrupted_ == 0) || !running_.empty()) {
      while (interrupted_ == 0 && next_ < plan_.runs.size() && running_.size() < plan_.jobs) {
        VERNIER_TRY(StartNext());
      }
      AwaitOne();
      if (interrupted_ != 0) StopAll(interrupted_);
    }
    CompleteRecords();
    return BatchOutcome{std::move(results_), std::move(kept_)};
  }

 private:
  struct Running {
    size_t index;
    ChildRun child;
    Clock::time_point start;
    fs::file_time_type record_before;
  };

  std::string LogOf(size_t index) const {
    return (plan_.log_folder.empty() ? scratch_ : plan_.log_folder) + "/" + plan_.runs[index].stem +
           ".log";
  }

  Status StartNext() {
    const size_t index = next_++;
    results_[index].started = true;
    const fs::file_time_type before = TimeOf(records_[index]);
    // The record that only the batch wants.
    const size_t own_words = plan_.runs[index].record.empty() ? 1 : 0;
    VERNIER_ASSIGN_OR_RETURN(ChildRun child,
                             ChildRun::Start(commands_[index], own_words, LogOf(index)));
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
    log_.Info("[" + std::to_string(finished_) + "/" + std::to_string(plan_.runs.size()) + "] " +
              result.model + ": " + BatchVerdict(result));
    if (plan_.show_log) {
      plan_.show_log(text);
    } else if (result.exit_code != 0) {
      for (const std::string& message : result.messages) log_.Error(result.model + ": " + message);
    }
    ReportUnsavedLog(LogOf(run.index), result);
  }

  // A run that could not write its log had no place to say so.
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

  // What a report holds: tensors' charts and graphs of many models are not among it.
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

  const BatchPlan& plan_;
  const std::atomic<int>& interrupted_;
  Logger& log_;
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

}  // namespace

Result<BatchOutcome> RunBatch(const BatchPlan& plan, const std::atomic<int>& interrupted,
                              Logger& log) {
  return Batch(plan, interrupted, log).Run();
}

}  // namespace vernier
