// What a shard leaves for `vernier merge`.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/bytes/checksum.h"
#include "io/bytes/part_file.h"
#include "io/journal/journal.h"
#include "record/shards/shard_lines.h"
#include "run/feeds/image_feeds.h"
#include "run/figures/pair_recorder.h"
#include "run/runner/model_stamps.h"
#include "vernier/run_plan.h"
#include "vernier/status.h"

namespace vernier {

/// The plan as all shards have it, and the run that is not divided: without what is saved where.
RunPlan UndividedPlan(RunPlan plan);

/// What the part of a shard says at its beginning. kIo; kMalformed for a model that cannot be read.
Result<ShardHead> MakeShardHead(const RunPlan& plan);

/// The lines of a part; see shard_lines.h. They are in PATH.partial until Publish().
class ShardFile {
 public:
  /// kIo where nothing can be written there.
  static Result<ShardFile> Create(std::string path, const ShardHead& head);

  /// The next iteration, in the order of indices: its text as ShardIterationText().
  Status Add(std::string_view text);
  /// Adds the end, whose `lines` are set here, and the checksum, and puts the file in its place.
  Status Publish(ShardEnd end);
  /// Removes what there is.
  void Discard();

  const std::string& path() const { return path_; }

 private:
  ShardFile(std::string path, std::string place, PartFile part)
      : path_(std::move(path)), place_(std::move(place)), part_(std::move(part)) {}
  Status Write(std::string_view text);

  std::string path_, place_;
  PartFile part_;
  Checksum checksum_;
  int64_t lines_ = 0;
};

class ShardWriter {
 public:
  /// The part at plan.save.record. kIo; kMalformed for a model that cannot be read.
  static Result<std::unique_ptr<ShardWriter>> Create(const RunPlan& plan);

  /// Before the comparisons of an iteration: HashFeed() of what it was made from, and what runners
  /// received.
  void NoteInputs(std::optional<uint64_t> feed, std::vector<ShardReceived> received);

  /// Before AddPair(): what was decided of it.
  void KeepDecisions(std::vector<ShardDecided> decided) { decided_ = std::move(decided); }
  /// Before EndIteration(): the image that was fed, one of `images`, which must outlive the
  /// iterations, and the pictures of its flips.
  void NoteImage(const ImageFeeds& images, ShardImage image);
  void KeepPictures(std::vector<ShardPicture> pictures) {
    iteration_.pictures = std::move(pictures);
  }

  /// What was folded last of the pair number `place`. `swap` is what is known of swapped outputs by
  /// now.
  void AddPair(size_t place, const IterationComparison& comparison, std::span<const OutputRow> rows,
               const PairRecorder& recorder, const std::string& swap, int64_t index);

  /// All pairs have been added. Images that were skipped before it are added, too. kIo.
  Status EndIteration(int64_t index);
  /// The images that were skipped before the place `end` and are not there yet. kIo.
  Status AddSkipped(const ImageFeeds& images, int64_t end);

  /// In how many pairs that iteration was compared which was compared in the fewest; the largest
  /// number where there was no iteration.
  size_t fewest_pairs() const { return fewest_pairs_; }

  /// Whether the files that the plan names, models among them, are still what they were.
  /// kMalformed, naming the first that is not: other shards have read other ones.
  Status CheckSources(const RunPlan& plan) const;

  /// What of the sources Python workers have imported, once nothing is inferred any more.
  void KeepImported(const std::vector<JournalSource>& sources);

  /// `end` without its seconds and shards, and without build and imports.
  Status Publish(ShardEnd end);
  void Discard() { file_.Discard(); }
  const std::string& path() const { return file_.path(); }
  /// RowsShard::run.
  const std::string& run() const { return run_; }

 private:
  ShardWriter(ShardFile file, int64_t number, std::string run, std::vector<ShardSource> sources,
              bool averaged)
      : file_(std::move(file)),
        number_(number),
        run_(std::move(run)),
        sources_(std::move(sources)),
        averaged_(averaged) {}

  Status CheckModels(const RunPlan& plan) const;

  ShardFile file_;
  int64_t number_;
  std::string run_;
  std::vector<ShardSource> sources_;
  std::vector<std::pair<std::string, std::string>> models_;  ///< runner by runner: path, hash
  std::vector<ModelStamp> stamps_;                           ///< of these
  bool averaged_;                                            ///< --check-average
  std::set<std::array<std::string, 3>> imported_;
  std::time_t started_ = std::time(nullptr);
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  ShardIteration iteration_;
  std::vector<ShardDecided> decided_;
  const ImageFeeds* images_ = nullptr;  ///< null: feeds are none
  size_t skipped_ = 0;                  ///< of them, that were added
  std::vector<bool> swap_known_;        ///< pair by pair
  size_t pairs_compared_ = 0;           ///< in this iteration
  size_t fewest_pairs_ = std::numeric_limits<size_t>::max();
};

}  // namespace vernier
