// What the framework's process of a runner received as inputs, by hashes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/worker/worker.h"
#include "io/bytes/checksum.h"
#include "vernier/runner_record.h"

namespace vernier {

/// 16 digits.
std::string HexadecimalHash(uint64_t hash);

class ReceivedInputs {
 public:
  /// Whether what is added from now on counts, which it does not at first: then the last one alone
  /// is known.
  void Count(bool counts) { counts_ = counts; }

  /// What an inference received. Warm-ups, with iterations below 0, do not count.
  void Add(InputHashes hashes, int64_t iteration);
  /// What an inference was made from whose result was there already.
  void TakeOver(InputHashes hashes);
  /// Nothing that was added so far counts.
  void Forget();

  /// What the last inference received; empty where that is not known.
  const InputHashes& last() const { return last_; }
  /// The same of all inferences that count.
  std::optional<ReceivedRecord> All() const;

 private:
  bool counts_ = false;
  InputHashes last_;
  Checksum all_;
  int64_t iterations_ = 0;
  std::vector<std::pair<std::string, std::string>> first_;
};

}  // namespace vernier
