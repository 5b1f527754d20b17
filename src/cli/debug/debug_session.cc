#include "cli/debug/debug_session.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <utility>

#include "io/json_tape.h"
#include "io/peer_document.h"
#include "util/atomic_file.h"
#include "util/number_text.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

Result<DebugSession> DebugSession::Bind(const ParsedArgs& args, std::vector<std::string> check,
                                        std::string suffix, Logger& log) {
  const bool has_artifact = !suffix.empty();
  VERNIER_ASSIGN_OR_RETURN(CheckCommand command, CheckCommand::Bind(args, std::move(check)));
  DebugSession session(std::move(command), std::move(suffix), log);
  // `repeat` makes no file of its own, and has no such option.
  if (has_artifact) session.artifact_ = Text(args, "iter_artifact_path", "polygraphy_debug.onnx");
  std::error_code ignored;
  if (has_artifact && fs::exists(session.artifact_, ignored)) {
    return InvalidArgument(session.artifact_ +
                           " already exists, refusing to overwrite.\nPlease remove the file "
                           "manually or specify a different path with `--intermediate-artifact`.");
  }
  session.keep_artifact_ = args.Has("remove_intermediate");
  session.info_path_ = Text(args, "iteration_info_path", "");
  session.replay_path_ = Text(args, "save_debug_replay", "polygraphy_debug_replay.json");
  session.artifacts_folder_ = Text(args, "artifacts_dir", "polygraphy_artifacts");
  for (const std::string& path : args.List("artifacts")) session.artifacts_.push_back(path);
  session.started_ = TimeInNames();
  if (const auto path = args.Value("load_debug_replay")) {
    VERNIER_TRY(session.LoadReplay(std::string(*path)));
  }
  return session;
}

Status DebugSession::LoadReplay(const std::string& path) {
  VERNIER_ASSIGN_OR_RETURN(const std::unique_ptr<PeerDocument> document, PeerDocument::Open(path));
  for (const JsonValue::Member& member : document->root().Members()) {
    const auto success = member.value.Find("success");
    if (!success) continue;
    known_[member.key] = success->is(JsonValue::Kind::kTrue);
  }
  if (!known_.empty()) return {};
  return document->Annotate(Malformed("is no debug replay"));
}

Status DebugSession::SaveReplay(const std::string& infix) const {
  std::string text = "{";
  for (size_t i = 0; i < replay_.size(); ++i) {
    text += (i == 0 ? "\"" : ", \"") + replay_[i].first +
            "\": {\"state\": {}, \"iteration_info\": {\"iteration\": " + std::to_string(i) +
            "}, \"success\": " + (replay_[i].second ? "true" : "false") +
            ", \"polygraphy_class\": \"IterationContext\"}";
  }
  fs::path path(replay_path_);
  if (!infix.empty()) {
    path = path.parent_path() / (path.stem().string() + infix + path.extension().string());
  }
  return WriteFileAtomically(path.string(), text + "}");
}

Status DebugSession::WriteIterationInfo() const {
  if (info_path_.empty()) return {};
  return WriteFileAtomically(info_path_, "{\"iteration\": " + std::to_string(iterations_) + "}");
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

Result<bool> DebugSession::Iterate(const std::function<Status()>& make,
                                   std::optional<int64_t> remaining) {
  const LogIndent indent(log_);
  const std::string number = std::to_string(iterations_ + 1);
  log_.Start("RUNNING | Iteration " + number +
             (remaining
                  ? " | Approximately " + std::to_string(*remaining) + " iteration(s) remaining"
                  : ""));
  const auto begin = std::chrono::steady_clock::now();
  const std::string key =
      "_N" + std::to_string(iterations_) + (suffix_.empty() ? "" : "_" + suffix_);
  bool passed = false;
  if (const auto known = known_.find(key); known != known_.end()) {
    passed = known->second;
    log_.Info(std::string("Loading iteration information from debug replay: success=") +
              (passed ? "True" : "False"));
    replay_.emplace_back(key, passed);
  } else {
    VERNIER_TRY(make());
    VERNIER_TRY(WriteIterationInfo());
    // Whoever takes up a session whose check brought everything down skips that iteration by it.
    replay_.emplace_back(key, false);
    VERNIER_TRY(SaveReplay("_skip_current"));
    Result<bool> result = check_.Passes(log_);
    std::error_code ignored;
    if (!keep_artifact_ && !artifact_.empty()) fs::remove(artifact_, ignored);
    if (!info_path_.empty()) fs::remove(info_path_, ignored);
    if (!result.ok()) return result.status();
    passed = *result;
    VERNIER_TRY(SortArtifacts(passed, key));
    replay_.back().second = passed;
    VERNIER_TRY(SaveReplay(""));
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const std::string end =
      " | Iteration " + number + " | Duration " + FormatFloatRepr(seconds.count()) + "s";
  if (passed) {
    log_.Finish("PASSED" + end);
  } else {
    log_.Error("FAILED" + end);
  }
  ++iterations_;
  passed_ += passed ? 1 : 0;
  return passed;
}

void DebugSession::Finish() const {
  const auto total = std::max<int64_t>(iterations_, 1);
  log_.Finish("Finished " + std::to_string(iterations_) + " iteration(s) | Passed: " +
              std::to_string(passed_) + "/" + std::to_string(iterations_) + " | Pass Rate: " +
              FormatFloatRepr(static_cast<double>(passed_) * 100 / static_cast<double>(total)) +
              "%");
}

}  // namespace vernier
