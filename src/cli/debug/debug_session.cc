#include "cli/debug/debug_session.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <utility>

#include "cli/command_table.h"
#include "cli/file_conflicts.h"
#include "io/checksum.h"
#include "io/json_tape.h"
#include "io/peer_document.h"
#include "util/atomic_file.h"
#include "util/number_text.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

// What the peer's tools write where ours write a model.
constexpr std::string_view kPeerEngine = "polygraphy_debug.engine";

std::string Text(const ParsedArgs& args, std::string_view dest, std::string_view fallback) {
  return std::string(args.Value(dest).value_or(fallback));
}

// As in names of the peer's artifacts: day and time of the locale, without what paths cannot have.
std::string TimeInNames() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[64];
  std::string name(text, std::strftime(text, sizeof(text), "%x_%X", &local));
  std::replace(name.begin(), name.end(), '/', '-');
  std::replace(name.begin(), name.end(), ':', '-');
  return name;
}

// Of a check that is our own run: it must leave the model that is looked into alone.
Status CheckFilesOfRun(const ParsedArgs& args, const CheckCommand& check) {
  const std::vector<std::string> words = check.RunOptions();
  if (words.empty()) return {};
  const OptionTable table = FindCommand("run")->options();
  const ParseResult parsed = ParseCommandLine(table, words);
  if (parsed.end != ParseEnd::kParsed) return {};  // it says so itself
  const std::string model(args.Value("model_file").value_or(""));
  return CheckFileConflicts(parsed.args, {}, {&model, 1});
}

}  // namespace

Fingerprints::Fingerprints(const OnnxModel& model) {
  Checksum checksum;
  checksum.Add(std::as_bytes(std::span(model.bytes())));
  model_ = ChecksumText(checksum.value());
}

std::string Fingerprints::Of(std::vector<std::string_view> parts) const {
  parts.push_back(model_);
  std::sort(parts.begin(), parts.end());
  uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3; };
  for (const std::string_view part : parts) {
    for (const char c : part) add(static_cast<unsigned char>(c));
    add(0);
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(hash >> shift) & 15];
  return text;
}

Result<DebugSession> DebugSession::Bind(const ParsedArgs& args, CheckWords check,
                                        const DebugSessionPlan& plan, Logger& log) {
  const std::string artifact =
      plan.default_artifact.empty() ? "" : Text(args, "iter_artifact_path", plan.default_artifact);
  VERNIER_ASSIGN_OR_RETURN(CheckCommand command,
                           CheckCommand::Bind(args, std::move(check), artifact));
  VERNIER_TRY(CheckFilesOfRun(args, command));
  DebugSession session(std::move(command), plan.suffix, log);
  session.artifact_ = artifact;
  VERNIER_TRY(session.BindFiles(args, plan));
  VERNIER_TRY(session.BindJobs(args));
  session.started_ = TimeInNames();
  if (const auto path = args.Value("load_debug_replay")) {
    VERNIER_TRY(session.LoadReplay(std::string(*path)));
  }
  return session;
}

Status DebugSession::BindFiles(const ParsedArgs& args, const DebugSessionPlan& plan) {
  std::error_code ignored;
  if (!artifact_.empty() && fs::exists(artifact_, ignored)) {
    return InvalidArgument(artifact_ +
                           " already exists, refusing to overwrite.\nPlease remove the file "
                           "manually or specify a different path with `--intermediate-artifact`.");
  }
  // A search may take hours: what it is to write at the end can be written now.
  for (const std::string_view dest : {"output", "min_good"}) {
    if (const auto path = args.Value(dest)) {
      VERNIER_TRY(AtomicFile::Create(std::string(*path)).status());
    }
  }
  if (!artifact_.empty() && !check_.Names(artifact_) && check_.Names(std::string(kPeerEngine))) {
    return InvalidArgument("--check: an iteration's file is '" + artifact_ +
                           "', and the check reads '" + std::string(kPeerEngine) +
                           "'; let it run the model, with --trt --strongly-typed for TensorRT");
  }
  keep_artifact_ = args.Has("remove_intermediate");
  info_path_ = Text(args, "iteration_info_path", "");
  if (plan.replays) replay_path_ = Text(args, "save_debug_replay", "polygraphy_debug_replay.json");
  artifacts_folder_ = Text(args, "artifacts_dir", "polygraphy_artifacts");
  for (const std::string& path : args.List("artifacts")) artifacts_.push_back(path);
  return {};
}

Status DebugSession::BindJobs(const ParsedArgs& args) {
  VERNIER_ASSIGN_OR_RETURN(const std::optional<int64_t> jobs, args.Int("jobs"));
  if (jobs && *jobs < 1) {
    return InvalidArgument("--jobs: expected a number >= 1, got " + std::to_string(*jobs));
  }
  jobs_ = static_cast<size_t>(jobs.value_or(1));
  if (jobs_ == 1) {
    RunOneByOne();
    return {};
  }
  if (!artifacts_.empty() || !info_path_.empty()) {
    return InvalidArgument(
        "--jobs: checks that run at once would write the same files; leave out --artifacts and "
        "--iter-info");
  }
  if (check_.Names(artifact_)) return {};
  return InvalidArgument("--jobs: the check does not name '" + artifact_ +
                         "', so that each of them cannot be given a file of its own");
}

void DebugSession::RunOneByOne() {
  jobs_ = 1;
  check_.StayLoaded(log_);
}

Status DebugSession::LoadReplay(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<PeerDocument> document, PeerDocument::Open(path));
  for (const JsonValue::Member& member : document->root().Members()) {
    const auto success = member.value.Find("success");
    if (!success) continue;
    Entry entry{member.key, "", success->is(JsonValue::Kind::kTrue)};
    const auto state = member.value.Find("state");
    const auto part = state && state->is(JsonValue::Kind::kObject) ? state->Find("part")
                                                                   : std::optional<JsonValue>();
    if (part && part->IsText()) entry.fingerprint = part->Text();
    known_.push_back(std::move(entry));
  }
  if (!known_.empty()) return {};
  return document->Annotate(Malformed("is no debug replay"));
}

Status DebugSession::SaveReplay(const std::string& infix, Durability durability) const {
  if (replay_path_.empty()) return {};
  std::string text = "{";
  for (size_t i = 0; i < replay_.size(); ++i) {
    const Entry& entry = replay_[i];
    const std::string state =
        entry.fingerprint.empty() ? "{}" : "{\"part\": \"" + entry.fingerprint + "\"}";
    text += (i == 0 ? "\"" : ", \"") + entry.key + "\": {\"state\": " + state +
            ", \"iteration_info\": {\"iteration\": " + std::to_string(i) +
            "}, \"success\": " + (entry.success ? "true" : "false") +
            ", \"polygraphy_class\": \"IterationContext\"}";
  }
  fs::path path(replay_path_);
  if (!infix.empty()) {
    path = path.parent_path() / (path.stem().string() + infix + path.extension().string());
  }
  if (infix.empty()) log_.Info("Saving debug replay to " + replay_path_);
  return WriteFileAtomically(path.string(), text + "}", durability);
}

Status DebugSession::WriteIterationInfo(size_t number) const {
  if (info_path_.empty()) return {};
  return WriteFileAtomically(info_path_, "{\"iteration\": " + std::to_string(number) + "}",
                             Durability::kRenamed);
}

Status DebugSession::SortArtifacts(bool passed, const std::string& key) const {
  for (const std::string& artifact : artifacts_) {
    std::error_code error;
    if (!fs::exists(artifact, error)) {
      log_.Error("Artifact: " + artifact +
                 " does not exist, skipping.\nWas the artifact supposed to be generated?");
      continue;
    }
    const fs::path from(artifact);
    const fs::path to = fs::path(artifacts_folder_) / (passed ? "good" : "bad") /
                        (from.stem().string() + "_" + started_ + key + from.extension().string());
    if (fs::exists(to, error)) {
      log_.Error("Destination path: " + to.string() +
                 " already exists.\nRefusing to overwrite. This artifact will be skipped!");
      continue;
    }
    log_.Info("Moving " + artifact + " to " + to.string());
    fs::create_directories(to.parent_path(), error);
    fs::rename(from, to, error);
    if (error == std::errc::cross_device_link) {
      fs::copy(from, to, fs::copy_options::recursive, error);
      if (!error) fs::remove_all(from, error);
    }
    if (error) {
      return IoError("'" + artifact + "' cannot be moved to '" + to.string() +
                     "': " + error.message());
    }
  }
  return {};
}

// The file of a job; the first has the artifact's own name.
std::string DebugSession::PathOf(size_t job) const {
  if (job == 0) return artifact_;
  const fs::path path(artifact_);
  return (path.parent_path() /
          (path.stem().string() + "." + std::to_string(job + 1) + path.extension().string()))
      .string();
}

// By what was checked, wherever it was in the order; by the place where the replay does not say.
const DebugSession::Entry* DebugSession::Known(const Entry& entry) const {
  for (const Entry& known : known_) {
    const bool blind = known.fingerprint.empty() || entry.fingerprint.empty();
    if (blind ? known.key == entry.key : known.fingerprint == entry.fingerprint) return &known;
  }
  return nullptr;
}

Result<DebugSession::Open> DebugSession::Begin(const DebugTrial& trial, size_t job) {
  Open open{replay_.size(), PathOf(job), std::chrono::steady_clock::now(), std::nullopt};
  log_.Start("RUNNING | Iteration " + std::to_string(open.number + 1));
  Entry& entry = replay_.emplace_back();
  entry.key = "_N" + std::to_string(open.number) + (suffix_.empty() ? "" : "_" + suffix_);
  entry.fingerprint = trial.fingerprint;
  if (const Entry* known = Known(entry)) {
    entry.success = known->success;
    log_.Info(std::string("Loading iteration information from debug replay: success=") +
              (entry.success ? "True" : "False"));
    return open;
  }
  VERNIER_TRY(Make(trial, open));
  if (open.failed) return open;
  VERNIER_TRY(WriteIterationInfo(open.number));
  // Whoever takes up a session whose check brought everything down skips that iteration by it; so
  // it has to be on the disk, and what was found out before is in it too.
  VERNIER_TRY(SaveReplay("_skip_current", Durability::kSynced));
  VERNIER_ASSIGN_OR_RETURN(CheckCommand::Running check,
                           check_.Start(artifact_, open.path, trial.change, log_));
  open.check.emplace(std::move(check));
  return open;
}

Status DebugSession::Make(const DebugTrial& trial, Open& open) {
  if (!trial.make) return {};
  const Status made = trial.make(open.path);
  if (made.ok() || !trial.may_fail || made.code() != StatusCode::kBackend) return made;
  log_.Warning(
      "Failed to create network or engine, continuing to the next iteration.\nNote: Error was: " +
      made.message());
  open.failed = true;
  return {};
}

Status DebugSession::End(Open open) {
  Entry& entry = replay_[open.number];
  if (open.check) {
    Result<bool> passed = check_.Finish(*std::move(open.check), log_);
    std::error_code ignored;
    if (!keep_artifact_ && !open.path.empty()) fs::remove(open.path, ignored);
    if (!info_path_.empty()) fs::remove(info_path_, ignored);
    if (!passed.ok()) return passed.status();
    VERNIER_TRY(SortArtifacts(*passed, entry.key));
    entry.success = *passed;
  }
  VERNIER_TRY(SaveReplay("", Durability::kRenamed));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - open.begin;
  const std::string end = " | Iteration " + std::to_string(open.number + 1) + " | Duration " +
                          FormatFloatRepr(seconds.count()) + "s";
  if (entry.success) {
    log_.Finish("PASSED" + end);
  } else {
    log_.Error("FAILED" + end);
  }
  return {};
}

Result<std::optional<size_t>> DebugSession::FirstThat(std::span<const DebugTrial> trials,
                                                      bool passes) {
  const LogIndent indent(log_);
  for (size_t begin = 0; begin < trials.size(); begin += jobs_) {
    const auto together = trials.subspan(begin, std::min(jobs_, trials.size() - begin));
    std::vector<Open> open;
    Status status;
    for (size_t job = 0; job < together.size() && status.ok(); ++job) {
      Result<Open> begun = Begin(together[job], job);
      status = begun.status();
      if (begun.ok()) {
        open.push_back(*std::move(begun));
      } else if (!artifact_.empty()) {
        std::error_code ignored;
        fs::remove(PathOf(job), ignored);
      }
    }
    std::optional<size_t> found;
    // Each is waited for, also behind one that was found or an error: no file is left behind.
    for (size_t job = 0; job < open.size(); ++job) {
      const size_t number = open[job].number;
      const Status ended = End(std::move(open[job]));
      if (status.ok()) status = ended;
      if (!found && replay_[number].success == passes) found = begin + job;
    }
    VERNIER_TRY(status);
    if (found) return found;
  }
  return std::optional<size_t>();
}

Result<bool> DebugSession::Passes(const DebugTrial& trial) {
  VERNIER_ASSIGN_OR_RETURN(const std::optional<size_t> found, FirstThat({&trial, 1}, true));
  return found.has_value();
}

void DebugSession::Finish() const {
  const size_t count = replay_.size();
  const auto passed = static_cast<size_t>(std::count_if(
      replay_.begin(), replay_.end(), [](const Entry& entry) { return entry.success; }));
  const double rate =
      static_cast<double>(passed) * 100 / static_cast<double>(std::max<size_t>(count, 1));
  log_.Finish("Finished " + std::to_string(count) +
              " iteration(s) | Passed: " + std::to_string(passed) + "/" + std::to_string(count) +
              " | Pass Rate: " + FormatFloatRepr(rate) + "%");
}

}  // namespace vernier
