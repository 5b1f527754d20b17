#include "run/parts/shard_writer.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "core/version.h"
#include "run/parts/begun_parts.h"
#include "run/parts/build_identity.h"
#include "run/parts/folded_comparison.h"
#include "run/parts/kept_labels.h"
#include "run/parts/shard_differences.h"
#include "run/parts/shard_sources.h"
#include "run/workers/runner_session.h"
#include "util/files/atomic_file.h"
#include "util/files/mapped_file.h"
#include "util/text/utc_text.h"
#include "vernier/compare_options.h"

namespace vernier {
namespace {

namespace fs = std::filesystem;

// Model files by their content: the same path may be another file elsewhere. Folders are known by
// their path here, and those of TensorFlow by their files among the sources.
Result<std::string> HashModel(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::string();
  VERNIER_ASSIGN_OR_RETURN(const auto file, MappedFile::Open(path));
  Checksum checksum;
  checksum.Add(file->bytes());
  VERNIER_TRY(file->CheckIntact());
  return HexadecimalHash(checksum.value());
}

Result<std::vector<std::pair<std::string, std::string>>> HashModels(const RunPlan& plan) {
  std::vector<std::pair<std::string, std::string>> models;
  for (const RunnerPlan& runner : plan.runners) {
    VERNIER_ASSIGN_OR_RETURN(std::string hash, HashModel(runner.model.path));
    models.emplace_back(runner.model.path, std::move(hash));
  }
  return models;
}

std::string HostName() {
  utsname names{};
  return ::uname(&names) == 0 ? names.nodename : "";
}

}  // namespace

RunPlan UndividedPlan(RunPlan plan) {
  plan.command.clear();
  plan.shard = {};
  plan.save = {};
  plan.execution.timeout_s = ExecutionPlan().timeout_s;
  plan.execution.workers_per_runner = 1;
  plan.execution.devices.clear();
  plan.execution.backend_dirs.clear();
  plan.execution.python = ExecutionPlan().python;
  return plan;
}

Result<ShardFile> ShardFile::Create(std::string path, const ShardHead& head) {
  const std::string parent = fs::path(path).parent_path().string();
  if (!parent.empty()) VERNIER_TRY(CreateDirectories(parent));
  if (!CanRenameOver(path)) return IoError("'" + path + "' cannot be written: it is not a file");
  // A job that was started again may still be running elsewhere.
  std::string place;
  VERNIER_ASSIGN_OR_RETURN(PartFile part, BeginPart(path, place));
  ShardFile file(std::move(path), std::move(place), std::move(part));
  VERNIER_TRY(file.Write(ShardHeadText(head)));
  return file;
}

Status ShardFile::Write(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  VERNIER_TRY(part_.Write(bytes));
  checksum_.Add(bytes);
  return {};
}

Status ShardFile::Add(std::string_view text) {
  return Write((lines_++ > 0 ? "," : "") + std::string(text));
}

Status ShardFile::Publish(ShardEnd end) {
  end.lines = lines_;
  VERNIER_TRY(Write(ShardEndText(end)));
  VERNIER_TRY(Write(ShardChecksumText(checksum_.value())));
  VERNIER_TRY(part_.PublishAs(path_));
  RemoveLeftParts(path_);
  return {};
}

void ShardFile::Discard() { ::unlink(place_.c_str()); }

Result<ShardHead> MakeShardHead(const RunPlan& plan) {
  const ShardPlan& shard = plan.shard;
  ShardHead head;
  head.version = kVersion;
  head.build = BuildIdentity();
  head.count = shard.count;
  head.multiple = plan.execution.batch_feeds;
  head.numbers = {shard.number};
  head.rule = shard.rule == ShardRule::kStride ? "stride" : "contiguous";
  head.began_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                      std::chrono::system_clock::now().time_since_epoch())
                      .count();
  head.folder = shard.folder;
  head.words = shard.words;
  head.plan = ToJson(UndividedPlan(plan));
  VERNIER_ASSIGN_OR_RETURN(head.models, HashModels(plan));
  VERNIER_ASSIGN_OR_RETURN(head.labels, HashLabels(plan.decisions, plan.inputs));
  head.sources = FindShardSources(plan);
  return head;
}

Result<std::unique_ptr<ShardWriter>> ShardWriter::Create(const RunPlan& plan) {
  std::vector<ModelStamp> stamps = StampModels(plan);
  VERNIER_ASSIGN_OR_RETURN(ShardHead head, MakeShardHead(plan));
  VERNIER_ASSIGN_OR_RETURN(ShardFile file, ShardFile::Create(plan.save.record, head));
  std::string run = HashOfRun(head);
  std::unique_ptr<ShardWriter> writer(new ShardWriter(std::move(file), plan.shard.number,
                                                      std::move(run), std::move(head.sources),
                                                      plan.compare->check_average));
  writer->models_ = std::move(head.models);
  writer->stamps_ = std::move(stamps);
  return writer;
}

// Large files are not read a second time where their times and sizes are as before.
Status ShardWriter::CheckModels(const RunPlan& plan) const {
  const std::vector<ModelStamp> stamps = StampModels(plan);
  for (size_t i = 0; i < models_.size(); ++i) {
    if (stamps[i] == stamps_[i]) continue;
    const auto& [path, hash] = models_[i];
    const Result<std::string> now = HashModel(path);
    if (now.ok() && *now == hash) continue;
    const std::string found = now.ok() && !now->empty()
                                  ? "has other content (XXH3 " + *now + ", and " + hash + " before)"
                                  : "is not there any more";
    return Malformed("--shard: what the run reads was changed meanwhile: model '" + path + "' " +
                     found + "; run this shard again");
  }
  return {};
}

Status ShardWriter::CheckSources(const RunPlan& plan) const {
  VERNIER_TRY(CheckModels(plan));
  const std::string other = DifferenceOfSources(sources_, FindShardSources(plan),
                                                {"when the shard began", "when it ended"});
  if (other.empty()) return {};
  return Malformed("--shard: what the run reads was changed meanwhile: " + other +
                   "; run this shard again");
}

void ShardWriter::KeepImported(const std::vector<JournalSource>& sources) {
  for (const JournalSource& source : sources) {
    const bool imported = source.kind == "package" || source.kind == "module";
    if (imported) imported_.insert({source.kind, source.name, source.value});
  }
}

Status ShardWriter::Publish(ShardEnd end) {
  for (ShardMadeWith& made : end.made_with) made.shards = {number_};
  for (ShardErrors& errors : end.errors) errors.shard = number_;
  end.made_with.push_back({"build", kVersion, BuildIdentity(), {number_}});
  for (const auto& [kind, name, value] : imported_) {
    end.made_with.push_back({kind, name, value, {number_}});
  }
  end.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  ShardRecord& done = end.shards.emplace_back();
  done.number = number_;
  done.host = HostName();
  done.process = ::getpid();
  done.started = UtcText(started_);
  done.seconds = end.seconds;
  for (const RunnerRecord& runner : end.runners) {
    done.runners.push_back({runner.name, runner.load_seconds, runner.latency});
  }
  return file_.Publish(std::move(end));
}

void ShardWriter::NoteInputs(std::optional<uint64_t> feed, std::vector<ShardReceived> received) {
  iteration_.input_hash = feed ? HexadecimalHash(*feed) : "";
  iteration_.received = std::move(received);
}

void ShardWriter::AddPair(size_t place, const IterationComparison& comparison,
                          std::span<const OutputRow> rows, const PairRecorder& recorder,
                          const std::string& swap, int64_t index) {
  ++pairs_compared_;
  if (iteration_.pairs.size() <= place) iteration_.pairs.resize(place + 1);
  if (swap_known_.size() <= place) swap_known_.resize(place + 1);
  ShardPair pair = MakeShardPair(comparison, rows, recorder.record(), index, averaged_);
  pair.decisions = std::exchange(decided_, {});
  if (!swap_known_[place]) pair.swap = swap;
  swap_known_[place] = !swap.empty();
  iteration_.pairs[place] = std::move(pair);
}

void ShardWriter::NoteImage(const ImageFeeds& images, ShardImage image) {
  images_ = &images;
  iteration_.image = std::move(image);
}

Status ShardWriter::AddSkipped(const ImageFeeds& images, int64_t end) {
  const std::vector<SkippedImage>& all = images.skipped();
  for (; skipped_ < all.size() && all[skipped_].place < end; ++skipped_) {
    ShardIteration line;
    line.index = all[skipped_].place;
    line.skipped = all[skipped_].path;
    VERNIER_TRY(file_.Add(ShardIterationText(line)));
  }
  return {};
}

Status ShardWriter::EndIteration(int64_t index) {
  if (images_ != nullptr) VERNIER_TRY(AddSkipped(*images_, index));
  iteration_.index = index;
  fewest_pairs_ = std::min(fewest_pairs_, std::exchange(pairs_compared_, 0));
  VERNIER_TRY(file_.Add(ShardIterationText(iteration_)));
  iteration_ = {};
  return {};
}

}  // namespace vernier
