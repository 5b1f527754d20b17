// What this program offers a plug-in (vn_host) except for its statuses, and its state.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "backend/wire/lent_memory.h"
#include "util/files/shared_memory.h"
#include "vernier/backend_abi.h"
#include "vernier/tensor.h"

namespace vernier {

using PluginLog = std::function<void(int severity, std::string_view text)>;

/// The feed of a session's next run, if it has arrived; null if not. It stays until that run ends.
using NextFeed = std::function<const TensorMap*()>;

class AbiTensors;

/// What a plug-in's calls of the host reach.
struct PluginHost {
  enum class Stage { kOther, kOpening, kRunning };

  PluginLog log;
  Stage stage = Stage::kOther;              ///< opening and running may want memory for outputs
  std::shared_ptr<SharedMemory> outputs;    ///< what it has got; null until it asks
  bool keeps_outputs = false;               ///< while it runs: they stay in its own memory
  std::vector<std::span<std::byte>> ahead;  ///< of that, places whose pages are to be made
  std::optional<uint8_t> fill;              ///< what it holds; then it is there for any output
  uint64_t placed = 0;                      ///< how often it was given since this was cleared
  LentMemory lent;     ///< for outputs that the plug-in has in memory of its own
  NextFeed next_feed;  ///< while it runs
  std::shared_ptr<AbiTensors> next_inputs;  ///< what it has of them
};

/// Memory for outputs of a session's first run. Its pages are made beside what comes before that.
class OutputsAhead {
 public:
  OutputsAhead() = default;
  /// Takes what the plug-in got while it opened the session.
  explicit OutputsAhead(PluginHost& host);

  /// The memory, once all pages are there; null where there is none, and from the second call on.
  std::shared_ptr<SharedMemory> Take();

 private:
  std::shared_ptr<SharedMemory> memory_;
  std::future<void> pages_;  // after the memory, which it writes to
};

/// The table of what `host` offers; `host` must outlive its users. Statuses are the caller's.
vn_host TableOf(PluginHost& host,
                vn_status* (*status_new)(void* self, int32_t code, vn_str message) noexcept);

}  // namespace vernier
