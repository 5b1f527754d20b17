#include "compare/masked_positions.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "kernels/logits.h"

namespace vernier {
namespace {

constexpr size_t kRank = 3;  // [batch, positions, values]

std::string WhyNoMaskedPositions(const Tensor& output) {
  const bool whole_bytes = BitsOf(output.dtype()) % 8 == 0;
  if (Kind(output.dtype()) == DTypeKind::kFloat && whole_bytes && output.dims().size() == kRank) {
    return "";
  }
  return "positions are those of floats [batch, positions, values], not of " +
         std::string(DTypeName(output.dtype())) + " " + FormatDims(output.dims());
}

void RestorePlaces(const KeptPositions& kept, ValueStatistics& statistics) {
  for (int64_t* place : {&statistics.argmin, &statistics.argmax, &statistics.first_nan,
                         &statistics.first_infinite}) {
    *place = kept.PlaceInWhole(*place);
  }
}

}  // namespace

int64_t KeptPositions::PlaceInWhole(int64_t place) const {
  if (place < 0) return place;
  return kept[static_cast<size_t>(place / masked.length)] * masked.length + place % masked.length;
}

std::optional<KeptPositions> FindKeptPositions(const FedPositions* fed, const Tensor& output) {
  if (fed == nullptr || !fed->mask || !fed->mask->for_elements) return std::nullopt;
  KeptPositions found;
  found.masked.why_not = WhyNoMaskedPositions(output);
  if (!found.masked.why_not.empty()) {
    return fed->mask->asked ? std::optional(std::move(found)) : std::nullopt;
  }
  const Dims& dims = output.dims();
  if (dims[1] == dims[2] && !fed->mask->asked) return std::nullopt;
  FedPositions mask;
  mask.mask = fed->mask;
  const RowTokens rows = MatchPositions(mask, {dims[0], dims[1]}, dims[2]);
  found.masked.why_not = rows.why_no_mask;
  if (rows.mask.empty()) {
    return rows.why_no_mask.empty() ? std::nullopt : std::optional(std::move(found));
  }
  found.masked.mask = rows.mask;
  found.masked.positions = dims[0] * dims[1];
  found.masked.length = dims[2];
  for (int64_t position = 0; position < found.masked.positions; ++position) {
    const bool excluded = rows.next[static_cast<size_t>(position)] == kExcludedRow;
    if (!excluded) found.kept.push_back(position);
  }
  found.masked.excluded = found.masked.positions - static_cast<int64_t>(found.kept.size());
  return found;
}

Result<Tensor> TakePositions(const Tensor& output, const KeptPositions& kept) {
  const Dims dims = {static_cast<int64_t>(kept.kept.size()), kept.masked.length};
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer, TensorBuffer::Allocate(output.dtype(), dims));
  const auto bytes = static_cast<size_t>(kept.masked.length * (BitsOf(output.dtype()) / 8));
  auto to = buffer.bytes().begin();
  for (const int64_t position : kept.kept) {
    to = std::ranges::copy(output.bytes().subspan(static_cast<size_t>(position) * bytes, bytes), to)
             .out;
  }
  return std::move(buffer).Freeze();
}

void RestorePlaces(const KeptPositions& kept, DifferenceSummary& difference) {
  difference.first_mismatch = kept.PlaceInWhole(difference.first_mismatch);
  RestorePlaces(kept, difference.absolute);
  RestorePlaces(kept, difference.relative);
}

void RestorePlaces(const KeptPositions& kept, PairMeasures& measures) {
  RestorePlaces(kept, measures.difference);
  RestorePlaces(kept, measures.a);
  RestorePlaces(kept, measures.b);
  measures.ulp.place_of_max = kept.PlaceInWhole(measures.ulp.place_of_max);
  for (WorstElement& element : measures.worst) element.place = kept.PlaceInWhole(element.place);
}

}  // namespace vernier
