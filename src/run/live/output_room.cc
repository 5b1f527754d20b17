#include "run/live/output_room.h"

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "inputs/memory_room.h"
#include "vernier/dtype.h"

namespace vernier {
namespace {

using FedSizes = std::map<std::string, int64_t, std::less<>>;

FedSizes NamedSizes(const SessionDescription& session, const TensorMap& feed) {
  FedSizes sizes;
  for (const TensorInfo& input : session.inputs) {
    const Tensor* fed = Find(feed, input.name);
    if (fed == nullptr || !input.shape || input.shape->size() != fed->dims().size()) continue;
    for (size_t axis = 0; axis < input.shape->size(); ++axis) {
      const Dim& dim = (*input.shape)[axis];
      if (dim.dynamic() && !dim.symbol.empty()) sizes.emplace(dim.symbol, fed->dims()[axis]);
    }
  }
  return sizes;
}

// nullopt: it is not known.
std::optional<uint64_t> BytesOf(const TensorInfo& output, const FedSizes& sizes) {
  if (!output.shape || output.dtype == DType::kUndefined || output.dtype == DType::kString) {
    return std::nullopt;
  }
  uint64_t bits = static_cast<uint64_t>(BitsOf(output.dtype));
  for (const Dim& dim : *output.shape) {
    const auto named = sizes.find(dim.symbol);
    if (dim.dynamic() && named == sizes.end()) return std::nullopt;
    const int64_t size = dim.dynamic() ? named->second : dim.value;
    if (__builtin_mul_overflow(bits, static_cast<uint64_t>(size), &bits)) {
      return std::numeric_limits<uint64_t>::max();
    }
  }
  return bits / 8;
}

void AddUpTo(uint64_t more, uint64_t& total) {
  if (__builtin_add_overflow(total, more, &total)) total = std::numeric_limits<uint64_t>::max();
}

}  // namespace

uint64_t KnownOutputBytes(const SessionDescription& session, const TensorMap& feed) {
  const FedSizes sizes = NamedSizes(session, feed);
  uint64_t total = 0;
  for (const TensorInfo& output : session.outputs) {
    AddUpTo(BytesOf(output, sizes).value_or(0), total);
  }
  return total;
}

uint64_t OutputBytesAtOnce(const InferenceScheduler& live, const TensorMap& feed) {
  if (live.outputs_may_stay_on_device()) return 0;
  uint64_t total = 0;
  for (size_t i = 0; i < live.size(); ++i) {
    if (live[i].alive()) AddUpTo(KnownOutputBytes(live[i].session(), feed), total);
  }
  // Beside those that are made are those that are compared.
  if (__builtin_mul_overflow(total, live.feeds_ahead() + 1, &total)) {
    total = std::numeric_limits<uint64_t>::max();
  }
  return total;
}

Status CheckOutputRoom(const InferenceScheduler& live, const TensorMap& feed, uint64_t& counted) {
  const uint64_t bytes = OutputBytesAtOnce(live, feed);
  if (bytes <= counted) return {};
  VERNIER_TRY(CheckMemoryRoom(bytes - counted, "the outputs"));
  counted = bytes;
  return {};
}

Status CheckOutputRoom(const InferenceScheduler& live, const TensorMap& feed) {
  uint64_t counted = 0;
  return CheckOutputRoom(live, feed, counted);
}

}  // namespace vernier
