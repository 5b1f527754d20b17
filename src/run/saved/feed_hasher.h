// What marks the feeds of a run: saved results and rows carry it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <future>

#include "vernier/tensor.h"

namespace vernier {

/// Bytes that take much longer to hash or to write than a thread takes to start.
inline constexpr size_t kWorthThread = size_t{4} << 20;

class FeedHasher {
 public:
  /// `steps`: HashOfSteps().
  explicit FeedHasher(uint64_t steps) : steps_(steps) {}

  /// The next feed. Large ones are hashed while runners infer.
  void Take(const TensorMap& feed);

  /// MarkFeed() of the feed that was taken last; 0: none was.
  uint64_t FeedHash();
  /// The same as it is saved with outputs: of steps, it is of what is fed back, too.
  uint64_t FeedMark() { return FeedHash() ^ steps_; }

  /// Beside the words of steps, what they are fed with: another run is one with another mark.
  void MixIntoMark(uint64_t hash) { steps_ ^= hash; }
  bool of_steps() const { return steps_ != 0; }

 private:
  uint64_t steps_;
  uint64_t hash_ = 0;              // of the last feed
  std::future<uint64_t> hashing_;  // or what will be it
};

}  // namespace vernier
