#include "run/feeds/torch_draws.h"

#include <limits>

namespace vernier {
namespace {

// A session of the scripts' worker that no role of theirs has.
constexpr uint64_t kDrawSession = 100;

std::optional<int64_t> Narrow(const RangeBound& bound) {
  const std::optional<WideInt> wide = BoundAsInt(bound);
  const bool fits = wide && *wide >= std::numeric_limits<int64_t>::min() &&
                    *wide < std::numeric_limits<int64_t>::max();
  return fits ? std::optional(static_cast<int64_t>(*wide)) : std::nullopt;
}

bool IsUnit(const ValueRange& range) {
  return BoundAsDouble(range.low) == 0 && BoundAsDouble(range.high) == 1;
}

}  // namespace

Result<std::unique_ptr<TorchDraws>> TorchDraws::Open(std::shared_ptr<Worker> worker,
                                                     Strictness strictness, Logger& logger) {
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<ScriptClient> client,
                           ScriptClient::Open(std::move(worker), kDrawSession, ScriptRole::kDraws,
                                              {"torch", "Generator"}));
  return std::unique_ptr<TorchDraws>(new TorchDraws(std::move(client), strictness, logger));
}

Result<DrawnInput> TorchDraws::Translate(const DrawRequest& request) const {
  DrawnInput input{request.name, request.dtype, request.dims};
  const DTypeKind kind = Kind(request.dtype);
  const ValueRange& range = request.range;
  if (kind == DTypeKind::kBool) {
    input.whole = true;
    input.least = BoundAsBool(range.low) ? 1 : 0;
    input.most = BoundAsBool(range.high) ? 1 : 0;
    return input;
  }
  if (kind == DTypeKind::kSignedInt || kind == DTypeKind::kUnsignedInt) {
    const std::optional<int64_t> least = Narrow(range.low);
    const std::optional<int64_t> most = Narrow(range.high);
    if (!least || !most || *least > *most) {
      return Malformed("--val-range: torch cannot draw input '" + request.name + "' from " +
                       FormatRange(range));
    }
    input.whole = true;
    input.least = *least;
    input.most = *most;
    return input;
  }
  input.high = 1;
  if (IsUnit(range)) return input;
  if (strictness_ == Strictness::kPolygraphy) {
    logger_.Once(Severity::kWarning, "Input tensor: " + request.name +
                                         " | with torch, Polygraphy draws floats from [0, 1): the "
                                         "range " +
                                         FormatRange(range) + " is ignored");
    return input;
  }
  input.low = BoundAsDouble(range.low);
  input.high = BoundAsDouble(range.high);
  return input;
}

Result<TensorMap> TorchDraws::Draw(int64_t seed, std::span<const DrawRequest> requests) {
  std::vector<DrawnInput> inputs;
  for (const DrawRequest& request : requests) {
    VERNIER_ASSIGN_OR_RETURN(DrawnInput input, Translate(request));
    inputs.push_back(std::move(input));
  }
  return client_->Draw(seed, inputs);
}

}  // namespace vernier
