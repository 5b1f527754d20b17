// Random inputs drawn by the user's torch, in a Python worker.
#pragma once

#include <memory>

#include "backend/worker/script_client.h"
#include "inputs/feed_drawer.h"
#include "inputs/strictness.h"
#include "util/log/log.h"

namespace vernier {

/// Polygraphy's numbers for the same torch and seed. It leaves bounds of floats out of account with
/// torch, which kStrict does not: low + x * (high - low). kPolygraphy warns instead.
class TorchDraws final : public FeedDrawer {
 public:
  /// kUnavailable where the worker's Python has no torch.
  static Result<std::unique_ptr<TorchDraws>> Open(std::shared_ptr<Worker> worker,
                                                  Strictness strictness, Logger& logger);

  Result<TensorMap> Draw(int64_t seed, std::span<const DrawRequest> requests) override;

 private:
  TorchDraws(std::unique_ptr<ScriptClient> client, Strictness strictness, Logger& logger)
      : client_(std::move(client)), strictness_(strictness), logger_(logger) {}
  Result<DrawnInput> Translate(const DrawRequest& request) const;

  std::unique_ptr<ScriptClient> client_;
  Strictness strictness_;
  Logger& logger_;
};

}  // namespace vernier
