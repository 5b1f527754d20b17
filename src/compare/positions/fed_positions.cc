#include "compare/positions/fed_positions.h"

#include <algorithm>

#include "kernels/classes/logits.h"

namespace vernier {
namespace {

// Logits as rows of a batch.
struct BatchExtent {
  int64_t batch = 1;
  int64_t count = 1;
};

// The values of a batch, of which position 0 has the column `first`.
struct PositionView {
  const Tensor* tensor = nullptr;
  int64_t first_row = 0;
  int64_t first = 0;
  int64_t columns = 0;

  // Nothing where there is no such column.
  std::optional<int64_t> At(int64_t row, int64_t position) const;
};

template <typename T>
int64_t IntegerOf(const Tensor& tensor, int64_t index) {
  return static_cast<int64_t>(tensor.As<T>()[static_cast<size_t>(index)]);
}

int64_t ValueAt(const Tensor& tensor, int64_t index) {
  switch (tensor.dtype()) {
    case DType::kInt64:
    case DType::kUint64:
      return IntegerOf<int64_t>(tensor, index);
    case DType::kInt32:
      return IntegerOf<int32_t>(tensor, index);
    case DType::kUint32:
      return IntegerOf<uint32_t>(tensor, index);
    case DType::kInt16:
      return IntegerOf<int16_t>(tensor, index);
    case DType::kUint16:
      return IntegerOf<uint16_t>(tensor, index);
    case DType::kInt8:
      return IntegerOf<int8_t>(tensor, index);
    default:
      return IntegerOf<uint8_t>(tensor, index);
  }
}

std::optional<int64_t> PositionView::At(int64_t row, int64_t position) const {
  const int64_t column = first + position;
  if (column >= columns) return std::nullopt;
  return ValueAt(*tensor, (first_row + row) * columns + column);
}

int64_t RowsOf(const Tensor& tensor) { return tensor.dims().size() == 2 ? tensor.dims()[0] : 1; }

// Nothing where logits of these dimensions are not of rows of a batch.
std::optional<BatchExtent> ExtentFor(const Dims& dims, const Tensor& values) {
  if (dims.size() == 2) return BatchExtent{dims[0], dims[1]};
  if (dims.empty()) return BatchExtent{};
  if (dims.size() > 2) return std::nullopt;
  return RowsOf(values) == 1 ? BatchExtent{1, dims[0]} : BatchExtent{dims[0], 1};
}

std::string DoesNotFit(const PositionValues& values, const Dims& dims) {
  return "shape " + FormatDims(values.tensor.dims()) + " does not fit logits at positions of " +
         FormatDims(dims);
}

// The rows of the batch in a file; below 0 where it has not as many.
int64_t FirstRowInFile(const PositionValues& values, int64_t batch) {
  const int64_t rows = RowsOf(values.tensor);
  if (rows == batch) return 0;
  const PositionValues::Place& place = *values.place;
  const int64_t first =
      place.rows_before < 0 ? place.sequence * std::max(place.most, batch) : place.rows_before;
  return first + batch <= rows ? first : -1;
}

// Sets `why` where they do not fit.
PositionView ViewOfFile(const PositionValues& values, const BatchExtent& extent, std::string& why) {
  PositionView view{&values.tensor, 0, 0, values.tensor.dims().back()};
  view.first_row = FirstRowInFile(values, extent.batch);
  if (values.place->in_steps) {
    const PositionValues::Place::Start& start = values.place->start;
    view.first = start.column + (values.place->step - start.step) * extent.count;
  }
  const int64_t behind = view.columns - view.first - extent.count;
  const bool fits = values.place->in_steps ? behind >= 0 : behind == 0 || behind == 1;
  if (fits && view.first_row >= 0) return view;
  why = "shape " + FormatDims(values.tensor.dims()) + " has no tokens for the " +
        FormatDims(std::vector<int64_t>{extent.batch, extent.count}) + " positions of " +
        (values.place->in_steps ? "step " + std::to_string(values.place->step) + " of " : "") +
        "sequence " + std::to_string(values.place->sequence);
  return view;
}

// The same. `may_be_longer`: the last columns count.
PositionView ViewOf(const PositionValues& values, const Dims& dims, bool may_be_longer,
                    std::string& why) {
  const std::optional<BatchExtent> extent = ExtentFor(dims, values.tensor);
  if (extent && values.place) return ViewOfFile(values, *extent, why);
  PositionView view{&values.tensor, 0, 0, values.tensor.dims().back()};
  const int64_t more = extent ? values.count - extent->count : -1;
  const bool fits = extent && RowsOf(values.tensor) == extent->batch;
  if (!fits || more < 0 || (more > 0 && !may_be_longer)) why = DoesNotFit(values, dims);
  view.first = more;
  return view;
}

// kNoToken for all, and what the mask excludes.
void ApplyMask(const PositionValues& mask, const Dims& dims, RowTokens& rows) {
  std::string why;
  const PositionView view = ViewOf(mask, dims, mask.asked || mask.of_last, why);
  if (!why.empty()) {
    if (mask.asked) rows.why_no_mask = std::move(why);
    return;
  }
  const BatchExtent extent = *ExtentFor(dims, mask.tensor);
  rows.mask = mask.source;
  for (int64_t row = 0; row < extent.batch; ++row) {
    for (int64_t p = 0; p < extent.count; ++p) {
      const bool excluded = view.At(row, p) == 0;
      rows.next.push_back(excluded ? kExcludedRow : kNoToken);
    }
  }
}

// Sets `why` where a token is no class.
std::vector<int64_t> NextTokens(const PositionView& tokens, const BatchExtent& extent,
                                int64_t classes, const std::optional<PositionView>& mask,
                                std::string& why) {
  std::vector<int64_t> next(static_cast<size_t>(extent.batch * extent.count), kNoToken);
  const auto is_class = [&](int64_t row, int64_t p, int64_t token) {
    if (token >= 0 && token < classes) return true;
    why = "token " + std::to_string(token) + " at " +
          FormatDims(std::vector<int64_t>{tokens.first_row + row, tokens.first + p}) +
          " is none of the " + std::to_string(classes) + " classes";
    return false;
  };
  const auto excluded = [&](int64_t row, int64_t p) { return mask && mask->At(row, p) == 0; };
  for (int64_t row = 0; row < extent.batch; ++row) {
    // No position predicts the first one.
    const std::optional<int64_t> own = tokens.At(row, 0);
    if (own && !excluded(row, 0) && !is_class(row, 0, *own)) return {};
    for (int64_t p = 0; p < extent.count; ++p) {
      const auto at = static_cast<size_t>(row * extent.count + p);
      if (excluded(row, p)) next[at] = kExcludedRow;
      // The one behind the last is that of the next step, if the mask is cut as tokens are.
      const std::optional<int64_t> token = tokens.At(row, p + 1);
      if (next[at] == kExcludedRow || excluded(row, p + 1) || !token) continue;
      if (!is_class(row, p + 1, *token)) return {};
      next[at] = *token;
    }
  }
  return next;
}

void ApplyTokens(const FedPositions& fed, const Dims& dims, int64_t classes, RowTokens& rows) {
  const PositionValues& tokens = *fed.tokens;
  std::string why;
  std::optional<PositionView> mask;
  if (!rows.mask.empty()) mask = ViewOf(*fed.mask, dims, fed.mask->asked || fed.mask->of_last, why);
  const std::optional<BatchExtent> extent = ExtentFor(dims, tokens.tensor);
  const bool of_last = tokens.of_last && extent && extent->count == 1;
  const PositionView view = ViewOf(tokens, dims, of_last, why);
  std::vector<int64_t> next;
  if (why.empty()) {
    next = NextTokens(view, *ExtentFor(dims, tokens.tensor), classes, mask, why);
    if (!why.empty() && !tokens.asked) rows.foreign_token = "in '" + tokens.source + "', " + why;
  }
  if (!why.empty()) {
    if (tokens.asked) rows.why_no_tokens = std::move(why);
    return;
  }
  rows.tokens = tokens.source;
  const int64_t batch = extent->batch;
  if (tokens.place) rows.columns = extent->count;
  if (tokens.place && batch != RowsOf(tokens.tensor)) {
    rows.rows = batch;
    rows.first_row = view.first_row;
  }
  rows.next = std::move(next);
}

}  // namespace

bool HoldsPositionValues(DType dtype) {
  switch (dtype) {
    case DType::kBool:
    case DType::kInt8:
    case DType::kUint8:
    case DType::kInt16:
    case DType::kUint16:
    case DType::kInt32:
    case DType::kUint32:
    case DType::kInt64:
    case DType::kUint64:
      return true;
    default:
      return false;
  }
}

bool HasExcluded(const Tensor& mask) {
  for (int64_t i = 0; i < mask.element_count(); ++i) {
    if (ValueAt(mask, i) == 0) return true;
  }
  return false;
}

std::string WhyNoMask(const Tensor& values) {
  if (values.dtype() == DType::kBool) return "bool, whose True may mean either";
  for (int64_t i = 0; i < values.element_count(); ++i) {
    const int64_t value = ValueAt(values, i);
    if (value != 0 && value != 1) return std::to_string(value);
  }
  return "";
}

FedPositions PositionsOf(const FedPositions& fed, const std::string& output) {
  FedPositions own = fed;
  for (std::optional<PositionValues>* const values : {&own.tokens, &own.mask}) {
    if (!*values || (*values)->asked) continue;
    const std::vector<std::string>& elsewhere = (*values)->elsewhere;
    if (std::ranges::find(elsewhere, output) != elsewhere.end()) values->reset();
  }
  if (own.tokens && own.tokens->place) {
    PositionValues::Place& place = *own.tokens->place;
    if (const auto start = place.starts.find(output); start != place.starts.end()) {
      place.start = start->second;
    }
  }
  return own;
}

RowTokens MatchPositions(const FedPositions& fed, const Dims& position_dims, int64_t classes) {
  RowTokens rows;
  if (fed.mask) ApplyMask(*fed.mask, position_dims, rows);
  if (fed.tokens) ApplyTokens(fed, position_dims, classes, rows);
  return rows;
}

}  // namespace vernier
