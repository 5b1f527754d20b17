#include "debug/debug_session.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <utility>

#include "io/bytes/checksum.h"
#include "io/json/json_tape.h"
#include "io/polygraphy/polygraphy_document.h"
#include "util/files/atomic_file.h"
#include "util/text/number_text.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

// What Polygraphy's tools write where ours write a model.
constexpr std::string_view kPolygraphyEngine = "polygraphy_debug.engine";

// As in names of Polygraphy's artifacts: day and time of the locale, without what paths cannot
// have.
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

Result<DebugSession> DebugSession::Open(DebugSessionPlan plan, const std::atomic<int>& interrupted,
                                        Logger& log) {
  VERNIER_ASSIGN_OR_RETURN(CheckCommand command,
                           CheckCommand::Make(plan.check, plan.artifact, interrupted));
  DebugSession session(std::move(command), std::move(plan), log);
  VERNIER_TRY(session.CheckFiles());
  VERNIER_TRY(session.CheckJobs());
  if (session.jobs() == 1) session.RunOneByOne();
  session.started_ = TimeInNames();
  if (!session.plan_.load_replay.empty()) {
    VERNIER_TRY(session.LoadReplay(session.plan_.load_replay));
  }
  return session;
}

Status DebugSession::CheckFiles() const {
  std::error_code ignored;
  const std::string& artifact = plan_.artifact;
  if (!artifact.empty() && fs::exists(artifact, ignored)) {
    return InvalidArgument(artifact +
                           " already exists, refusing to overwrite.\nPlease remove the file "
                           "manually or specify a different path with `--intermediate-artifact`.");
  }
  // A search may take hours: what it is to write at the end can be written now.
  for (const std::string& path : plan_.outputs) VERNIER_TRY(AtomicFile::Create(path).status());
  if (!artifact.empty() && !check_.Names(artifact) &&
      check_.Names(std::string(kPolygraphyEngine))) {
    return InvalidArgument("--check: an iteration's file is '" + artifact +
                           "', and the check reads '" + std::string(kPolygraphyEngine) +
                           "'; let it run the model, with --trt --strongly-typed for TensorRT");
  }
  return {};
}

Status DebugSession::CheckJobs() const {
  if (plan_.jobs == 1) return {};
  if (!plan_.artifacts.empty() || !plan_.info_path.empty()) {
    return InvalidArgument(
        "--jobs: checks that run at once would write the same files; leave out --artifacts and "
        "--iter-info");
  }
  if (check_.Names(plan_.artifact)) return {};
  return InvalidArgument("--jobs: the check does not name '" + plan_.artifact +
                         "', so that each of them cannot be given a file of its own");
}

void DebugSession::RunOneByOne() {
  plan_.jobs = 1;
  check_.StayLoaded(log_);
}

Status DebugSession::LoadReplay(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<PolygraphyDocument> document,
                           PolygraphyDocument::Open(path));
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
  return document->Annotate(Malformed("is not a debug replay"));
}

Status DebugSession::SaveReplay(const std::string& infix, Durability durability) const {
  if (plan_.save_replay.empty()) return {};
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
  fs::path path(plan_.save_replay);
  if (!infix.empty()) {
    path = path.parent_path() / (path.stem().string() + infix + path.extension().string());
  }
  if (infix.empty()) log_.Info("Saving debug replay to " + plan_.save_replay);
  return WriteFileAtomically(path.string(), text + "}", durability);
}

Status DebugSession::WriteIterationInfo(size_t number) const {
  if (plan_.info_path.empty()) return {};
  return WriteFileAtomically(plan_.info_path, "{\"iteration\": " + std::to_string(number) + "}",
                             Durability::kRenamed);
}

Status DebugSession::SortArtifacts(bool passed, const std::string& key) const {
  for (const std::string& artifact : plan_.artifacts) {
    std::error_code error;
    if (!fs::exists(artifact, error)) {
      log_.Error("Artifact: " + artifact +
                 " does not exist, skipping.\nWas the artifact supposed to be generated?");
      continue;
    }
    const fs::path from(artifact);
    const fs::path to = fs::path(plan_.artifacts_folder) / (passed ? "good" : "bad") /
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
  if (job == 0) return plan_.artifact;
  const fs::path path(plan_.artifact);
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

Result<DebugSession::Begun> DebugSession::Begin(const DebugTrial& trial, size_t job) {
  Begun open{replay_.size(), PathOf(job), std::chrono::steady_clock::now(), std::nullopt};
  log_.Start("RUNNING | Iteration " + std::to_string(open.number + 1));
  Entry& entry = replay_.emplace_back();
  entry.key = "_N" + std::to_string(open.number) + (plan_.suffix.empty() ? "" : "_" + plan_.suffix);
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
                           check_.Start(plan_.artifact, open.path, trial.change, log_));
  open.check.emplace(std::move(check));
  return open;
}

Status DebugSession::Make(const DebugTrial& trial, Begun& open) {
  if (!trial.make) return {};
  const Status made = trial.make(open.path);
  if (made.ok() || !trial.may_fail || made.code() != StatusCode::kBackend) return made;
  log_.Warning(
      "Failed to create network or engine, continuing to the next iteration.\nNote: Error was: " +
      made.message());
  open.failed = true;
  return {};
}

Status DebugSession::End(Begun open) {
  Entry& entry = replay_[open.number];
  if (open.check) {
    Result<bool> passed = check_.Finish(*std::move(open.check), log_);
    std::error_code ignored;
    if (!plan_.keep_artifact && !open.path.empty()) fs::remove(open.path, ignored);
    if (!plan_.info_path.empty()) fs::remove(plan_.info_path, ignored);
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
  for (size_t begin = 0; begin < trials.size(); begin += plan_.jobs) {
    const auto together = trials.subspan(begin, std::min(plan_.jobs, trials.size() - begin));
    std::vector<Begun> open;
    Status status;
    for (size_t job = 0; job < together.size() && status.ok(); ++job) {
      Result<Begun> begun = Begin(together[job], job);
      status = begun.status();
      if (begun.ok()) {
        open.push_back(*std::move(begun));
      } else if (!plan_.artifact.empty()) {
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
