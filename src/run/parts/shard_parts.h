// The parts that shards have left, read line by line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "record/shards/shard_lines.h"
#include "util/files/mapped_file.h"
#include "vernier/shard_plan.h"
#include "vernier/status.h"

namespace vernier {

class ShardPart {
 public:
  /// kMalformed, naming the file: no part, one that is truncated or damaged.
  static Result<ShardPart> Open(const std::string& path);

  const std::string& path() const { return path_; }
  const ShardHead& head() const { return head_; }
  const ShardEnd& end() const { return end_; }

  /// Of the iteration at hand, at first the first one; nullopt behind the last.
  std::optional<int64_t> index() const { return index_; }
  /// ReadShardIteration() reads it. Parts of the same iteration have the same text.
  std::string_view line() const { return line_; }
  /// kMalformed where iterations are not in the order of their indices.
  Status Advance();

 private:
  void MoveStretch();

  std::string path_;
  ShardHead head_;
  ShardEnd end_;
  std::shared_ptr<const MappedFile> file_;
  std::string_view rest_;               // whole lines
  std::span<const std::byte> stretch_;  // of the file: is in memory
  std::span<const std::byte> before_;   // likewise: lines are still read
  std::string_view line_;
  std::optional<int64_t> index_;
};

/// kMalformed, beginning with `what`, where it names shards that there are not.
Status CheckShardHead(const ShardHead& head, const std::string& what);

/// kMalformed, naming both files and what differs, for parts of other runs or versions of vernier,
/// of other models, or divided otherwise.
Status CheckSameRun(const ShardPart& a, const ShardPart& b);

/// Shard `number` of those that the part is one of.
ShardPlan ShardOf(const ShardHead& head, int64_t number);

}  // namespace vernier
