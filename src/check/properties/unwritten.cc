#include "check/properties/unwritten.h"

#include <algorithm>

#include "check/properties/agreement.h"

namespace vernier {
namespace {

bool AllAre(std::span<const std::byte> bytes, uint8_t fill) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [fill](std::byte byte) { return byte == std::byte{fill}; });
}

std::optional<std::string> FindIn(const NamedTensor& output, const PoisonedRun& a,
                                  const Tensor& other, const PoisonedRun& b) {
  const Tensor& tensor = output.tensor;
  const std::span<const std::byte> x = tensor.bytes(), y = other.bytes();
  const std::optional<uint64_t> item = ByteSize(tensor.dtype(), 1);
  if (!item || tensor.dtype() == DType::kString || x.size() != y.size()) return std::nullopt;
  uint64_t unwritten = 0, first = 0;
  for (uint64_t at = x.size() / *item; at-- > 0;) {
    const bool kept = AllAre(x.subspan(at * *item, *item), a.fill) &&
                      AllAre(y.subspan(at * *item, *item), b.fill);
    if (!kept) continue;
    ++unwritten;
    first = at;
  }
  if (unwritten == 0) return std::nullopt;
  // Packed types have more elements than bytes.
  const uint64_t per_item =
      x.size() / *item < static_cast<uint64_t>(tensor.element_count()) ? 2 : 1;
  return "output '" + output.name + "' at " +
         FormatPlace(static_cast<int64_t>(first * per_item), tensor.dims()) + ": " +
         std::to_string(unwritten * per_item) + " of " + std::to_string(tensor.element_count()) +
         " elements still hold what was there before";
}

}  // namespace

std::optional<std::string> FindUnwritten(const PoisonedRun& a, const PoisonedRun& b) {
  for (const NamedTensor& output : a.outputs) {
    const Tensor* const other = Find(b.outputs, output.name);
    if (other == nullptr) continue;
    if (auto found = FindIn(output, a, *other, b)) return found;
  }
  return std::nullopt;
}

}  // namespace vernier
