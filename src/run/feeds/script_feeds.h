// The feeds that a data loader script makes, gone through as often as the run needs them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backend/worker/script_client.h"
#include "io/journal/tensor_spill.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Whether feeds are read again: then they are kept in a temporary file, because a second call of
/// the script's function may give others.
enum class FeedReuse : uint8_t { kOnce, kAgain };

class ScriptFeeds {
 public:
  /// kIo when there is no place for feeds that are read again.
  static Result<std::unique_ptr<ScriptFeeds>> Create(std::unique_ptr<ScriptClient> script,
                                                     FeedReuse reuse);

  /// Feed `index`; nullopt after the last. Each is made by the script once, in order, those that
  /// are passed over too; `inputs` are those of the first runner. kIo, or as
  /// ScriptClient::NextFeed.
  Result<std::optional<TensorMap>> Read(int64_t index, std::span<const TensorInfo> inputs);

  /// How many there are, before the first is read, where the script can make each by itself: Read()
  /// then passes over none. Else nullopt. Errors as ScriptClient::CountFeeds.
  Result<std::optional<int64_t>> CountAhead(std::span<const TensorInfo> inputs);

  /// Whether there are still as many as CountAhead() has said: shards go by that number.
  /// kMalformed; errors as ScriptClient::CountFeeds.
  Status CheckCount(std::span<const TensorInfo> inputs);

  /// See ScriptClient.
  std::optional<int64_t> promised() const { return script_->promised(); }

  /// How many there are; nullopt as long as the script has not come to its end.
  std::optional<int64_t> count() const {
    if (length_) return length_;
    return ended_ ? std::optional(made_) : std::nullopt;
  }

 private:
  explicit ScriptFeeds(std::unique_ptr<ScriptClient> script) : script_(std::move(script)) {}

  Result<TensorMap> ReadByIndex(int64_t index);

  std::unique_ptr<ScriptClient> script_;
  std::optional<TensorSpill> kept_;   // none: feeds are read once
  std::optional<int64_t> length_;     // where feeds are made by index
  std::map<int64_t, size_t> places_;  // of those in `kept_`
  int64_t made_ = 0;
  bool ended_ = false;
};

}  // namespace vernier
