// Feeds for two models that call their inputs differently.
#pragma once

#include <span>

#include "run/maps/name_maps.h"
#include "run/workers/live_runner.h"
#include "util/log.h"
#include "vernier/status.h"
#include "vernier/tensor.h"

namespace vernier {

/// Adds the inputs of an open runner to a feed that has them under other names: those that `maps`
/// (--map-inputs) name, and those that type, rank and sizes pair with an input of `made_for`, which
/// the feed was made for. Nothing where the runner does not say what it takes. kMalformed as
/// CoerceFeed, kInvalidArgument as InputMaps; kUnimplemented where a name would have to stand for
/// two tensors.
Status AddNamesOf(const LiveRunner& runner, const InputMaps& maps,
                  std::span<const TensorInfo> made_for, Logger& logger, TensorMap& feed);

}  // namespace vernier
