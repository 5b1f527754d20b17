// The lines of parts, read by all processors while those before them are folded.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "record/shards/shard_lines.h"
#include "run/parts/shard_parts.h"
#include "util/threads/thread_pool.h"
#include "vernier/status.h"

namespace vernier {

class LinesAhead {
 public:
  /// Folds an iteration of the part at `path`, of which it may take what it likes; false: no more
  /// are wanted.
  using Fold = std::function<Result<bool>(ShardIteration& iteration, const std::string& path)>;

  explicit LinesAhead(Fold fold) : fold_(std::move(fold)) {}

  /// Takes the line at hand of a part, which must live until Finish(). `fold` is called for the
  /// lines in the order in which they came, from one thread at a time; what it found of one of
  /// them, or why one could not be read, is returned by this call or a later one. After an error
  /// or false nothing more is folded.
  Result<bool> Add(const ShardPart& part);

  /// Folds what is left.
  Status Finish();

 private:
  struct Line {
    const ShardPart* part;
    std::string_view text;
  };
  struct ReadLine {
    const ShardPart* part;
    Result<ShardIteration> iteration;
  };

  void Turn();
  void FoldRead();
  void Read(size_t begin, size_t end, std::vector<std::vector<ReadLine>>& read) const;

  Fold fold_;
  ThreadPool pool_;
  std::vector<Line> lines_;                  // to be read
  size_t size_ = 0;                          // their bytes
  std::vector<std::vector<ReadLine>> read_;  // to be folded
  Result<bool> go_on_ = true;
};

}  // namespace vernier
