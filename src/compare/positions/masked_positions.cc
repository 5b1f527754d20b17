#include "compare/positions/masked_positions.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "kernels/classes/logits.h"
#include "kernels/measures/pair_measures.h"

namespace vernier {
namespace {

// An output as vectors at the positions of a mask: [batch, heads, positions, length].
struct PositionLayout {
  int64_t batch = 0;
  int64_t heads = 1;
  int64_t positions = 0;
  int64_t length = 0;
};

std::optional<PositionLayout> LayoutOf(const Tensor& output) {
  const Dims& dims = output.dims();
  const bool whole_bytes = BitsOf(output.dtype()) % 8 == 0;
  if (Kind(output.dtype()) != DTypeKind::kFloat || !whole_bytes) return std::nullopt;
  if (dims.size() == 3) return PositionLayout{dims[0], 1, dims[1], dims[2]};
  if (dims.size() == 4) return PositionLayout{dims[0], dims[1], dims[2], dims[3]};
  return std::nullopt;
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

std::optional<KeptPositions> FindKeptPositions(const FedPositions* fed, const NamedTensor& output) {
  if (fed == nullptr || !fed->mask || !fed->mask->for_elements) return std::nullopt;
  const PositionValues& given = *fed->mask;
  const Tensor& tensor = output.tensor;
  KeptPositions found;
  const std::optional<PositionLayout> layout = LayoutOf(tensor);
  if (!layout) {
    found.masked.why_not =
        "positions are those of floats [batch, positions, values] or [batch, heads, positions, "
        "values], not of " +
        std::string(DTypeName(tensor.dtype())) + " " + FormatDims(tensor.dims());
    return given.asked ? std::optional(std::move(found)) : std::nullopt;
  }
  FedPositions mask;
  mask.mask = given;
  mask.mask->asked = true;  // what it would do by its name
  const RowTokens rows = MatchPositions(mask, {layout->batch, layout->positions}, layout->length);
  found.masked.why_not = rows.why_no_mask;
  if (rows.mask.empty()) return given.asked ? std::optional(std::move(found)) : std::nullopt;
  found.masked.mask = rows.mask;
  found.masked.positions = layout->batch * layout->heads * layout->positions;
  found.masked.length = layout->length;
  for (int64_t row = 0; row < found.masked.positions; ++row) {
    const int64_t prompt = row / (layout->heads * layout->positions);
    const int64_t at = prompt * layout->positions + row % layout->positions;
    const bool excluded = rows.next[static_cast<size_t>(at)] == kExcludedRow;
    (excluded ? found.others : found.kept).push_back(row);
  }
  const bool certain =
      given.asked || (given.count == layout->positions &&
                      std::ranges::find(given.outputs, output.name) != given.outputs.end());
  if (certain) found.masked.excluded = static_cast<int64_t>(found.others.size());
  return found;
}

Result<Tensor> TakePositions(const Tensor& output, std::span<const int64_t> positions,
                             int64_t length) {
  const Dims dims = {static_cast<int64_t>(positions.size()), length};
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer, TensorBuffer::Allocate(output.dtype(), dims));
  const auto bytes = static_cast<size_t>(length * (BitsOf(output.dtype()) / 8));
  auto to = buffer.bytes().begin();
  for (const int64_t position : positions) {
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
