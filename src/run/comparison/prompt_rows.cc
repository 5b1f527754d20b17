#include "run/comparison/prompt_rows.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <variant>

#include "run/steps/step_tensors.h"

namespace vernier {
namespace {

bool HoldsWholeBytes(DType dtype) { return BitsOf(dtype) > 0 && BitsOf(dtype) % 8 == 0; }

// Places of a tensor that has some of the rows of another, each of `length` elements.
KeptPositions PlacesOf(const std::vector<int64_t>& rows, int64_t length) {
  KeptPositions kept;
  kept.masked.length = std::max<int64_t>(length, 1);
  kept.kept = rows;
  return kept;
}

int64_t LengthOfRows(const Dims& dims) {
  return std::accumulate(dims.begin() + 1, dims.end(), int64_t{1}, std::multiplies<>());
}

void RestoreLogits(const std::vector<int64_t>& rows, int64_t batch, LogitsResult& logits) {
  if (logits.axis == 0 || logits.position_dims.empty()) return;
  const KeptPositions kept = PlacesOf(rows, LengthOfRows(logits.position_dims));
  logits.position_dims.front() = batch;
  logits.measures.worst_row = kept.PlaceInWhole(logits.measures.worst_row);
  logits.measures.flip_row = kept.PlaceInWhole(logits.measures.flip_row);
}

void RestoreStatistics(const KeptPositions& kept, const Tensor& whole, OutputStatistics& side) {
  ValueStatistics& found = side.statistics;
  for (int64_t* place : {&found.argmin, &found.argmax, &found.first_nan, &found.first_infinite}) {
    *place = kept.PlaceInWhole(*place);
  }
  side.tensor = whole;
}

}  // namespace

PromptAxes::First PromptAxes::AxisOf(const Output& output) {
  const std::vector<Dim>* const tokens = models_->InputShape(output.stream, output.tokens);
  const std::vector<Dim>* const shape = models_->OutputShape(output.stream, output.name);
  const bool fits = tokens != nullptr && shape != nullptr && !tokens->empty() && !shape->empty();
  if (!fits || tokens->front().symbol.empty()) return First::kUnknown;
  const bool single = std::ranges::count(*shape, tokens->front()) == 1;
  return single && shape->front() == tokens->front() ? First::kPrompts : First::kElse;
}

bool PromptAxes::HaveRows(const Output& first, const Output& second) {
  const First a = AxisOf(first), b = AxisOf(second);
  return a != First::kElse && b != First::kElse && (a == First::kPrompts || b == First::kPrompts);
}

Result<Tensor> PromptRows::TakeFrom(const Tensor& whole) const {
  std::vector<Tensor> rows;
  for (const int64_t row : rows_.going_on) {
    VERNIER_ASSIGN_OR_RETURN(Tensor taken, TakeWindow(whole, 0, row, 1));
    rows.push_back(std::move(taken));
  }
  return JoinAlong(rows, 0);
}

// What is not of this batch fits nothing before and behind.
Status PromptRows::TakePositions(const FedPositions& positions) {
  positions_ = positions;
  for (std::optional<PositionValues>* const values : {&positions_->tokens, &positions_->mask}) {
    if (!*values) continue;
    const Dims& dims = (*values)->tensor.dims();
    if (dims.size() != 2 || dims.front() != rows_.batch) continue;
    VERNIER_ASSIGN_OR_RETURN((*values)->tensor, TakeFrom((*values)->tensor));
  }
  return {};
}

bool PromptRows::Fit(const Tensor& a, const Tensor& b, int64_t batch) {
  const bool rows = !a.dims().empty() && a.dims().front() == batch && a.dims() == b.dims();
  return rows && HoldsWholeBytes(a.dtype()) && HoldsWholeBytes(b.dtype());
}

Result<PromptRows> PromptRows::Take(Rows rows, const MatchedSides& sides,
                                    const FedPositions* positions, DeviceMeasure* device) {
  PromptRows taken(std::move(rows), sides);
  TensorMap a = sides.a().outputs, b = sides.b().outputs;
  for (const OutputPair& pair : sides.pairing.pairs) {
    for (Tensor* const side : {&a[pair.a].tensor, &b[pair.b].tensor}) {
      if (device != nullptr && device->Holds(*side)) VERNIER_TRY(device->Fetch(*side));
      VERNIER_ASSIGN_OR_RETURN(*side, taken.TakeFrom(*side));
    }
  }
  taken.sides_.ReplaceA(std::move(a));
  taken.sides_.ReplaceB(std::move(b));
  if (positions != nullptr) VERNIER_TRY(taken.TakePositions(*positions));
  return taken;
}

void PromptRows::Restore(const Tensor& a, const Tensor& b, OutputComparison& output) const {
  const KeptPositions kept = PlacesOf(rows_.going_on, LengthOfRows(a.dims()));
  output.left_out = a.element_count() - output.a.element_count();
  output.a = a;
  output.b = output.aligned_b = b;
  output.a_dims = a.dims();
  output.b_dims = b.dims();
  if (output.measures) RestorePlaces(kept, *output.measures);
  for (FunctionResult& result : output.functions) {
    if (auto* const simple = std::get_if<SimpleResult>(&result.data)) {
      RestorePlaces(kept, simple->difference);
      for (int64_t& place : simple->mismatch_places) place = kept.PlaceInWhole(place);
    } else if (auto* const logits = std::get_if<LogitsResult>(&result.data)) {
      RestoreLogits(rows_.going_on, rows_.batch, *logits);
    }
  }
}

void PromptRows::Restore(const MatchedSides& whole, IterationComparison& comparison) const {
  for (OutputComparison& output : comparison.outputs) {
    Restore(*Find(whole.a().outputs, output.a_name), *Find(whole.b().outputs, output.b_name),
            output);
  }
  for (OutputStatisticsPair& output : comparison.statistics) {
    const Tensor* const a = Find(whole.a().outputs, output.a.name);
    const Tensor* const b = Find(whole.b().outputs, output.b.name);
    if (a == nullptr || b == nullptr) continue;
    const KeptPositions kept = PlacesOf(rows_.going_on, LengthOfRows(a->dims()));
    RestoreStatistics(kept, *a, output.a);
    RestoreStatistics(kept, *b, output.b);
  }
}

}  // namespace vernier
