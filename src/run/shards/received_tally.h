// What runners received over all shards, as the undivided run has it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/bytes/checksum.h"
#include "record/shards/shard_lines.h"
#include "vernier/run_record.h"

namespace vernier {

/// The number that hexadecimal digits are; nullopt for other text.
std::optional<uint64_t> HashFrom(const std::string& text);

/// Iterations are added in their order.
class ReceivedTally {
 public:
  void Add(const ShardIteration& iteration);

  /// Of what one shard has found of its runners what the whole run would have.
  std::vector<RunnerRecord> Complete(std::vector<RunnerRecord> runners) const;

  int64_t iterations() const { return iterations_; }

 private:
  std::vector<ShardReceived> first_;  // the shard may not have had the first iteration of all
  std::vector<Checksum> sums_;
  int64_t iterations_ = 0;
};

}  // namespace vernier
