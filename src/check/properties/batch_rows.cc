#include "check/properties/batch_rows.h"

#include <algorithm>

#include "util/values/list_has.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

bool HasDynamicRows(const TensorInfo& info) {
  return info.shape && !info.shape->empty() && info.shape->front().dynamic();
}

bool HasRows(const Tensor& tensor, int64_t count) {
  return !tensor.dims().empty() && tensor.dims().front() == count;
}

// Converters name what has no name, each dimension by itself: tf2onnx "unk__12", PyTorch's exporter
// "x_dynamic_axes_1".
bool IsNameless(const std::string& symbol) {
  return symbol.empty() || symbol.starts_with("unk__") ||
         symbol.find("_dynamic_axes_") != std::string::npos;
}

std::string Named(const std::string& symbol) {
  return symbol.empty() ? "free and has no name" : "'" + symbol + "'";
}

// A tensor that has the symbol in another place than the first: its rows see each other.
const TensorInfo* FindElsewhere(std::span<const TensorInfo> tensors, const std::string& symbol) {
  if (IsNameless(symbol)) return nullptr;
  for (const TensorInfo& tensor : tensors) {
    if (!tensor.shape) continue;
    for (size_t axis = 1; axis < tensor.shape->size(); ++axis) {
      if ((*tensor.shape)[axis].symbol == symbol) return &tensor;
    }
  }
  return nullptr;
}

// The first dimension of an output, in words.
std::string FirstOf(const TensorInfo& output) {
  if (output.shape->empty()) return "none";
  const Dim& first = output.shape->front();
  return first.dynamic() ? Named(first.symbol) : std::to_string(first.value);
}

enum class Rows { kSame, kPerhaps, kOther };

// Whether the rows of an output are those of inputs whose first dimension has that symbol.
Rows RowsAs(const TensorInfo& output, const std::string& symbol) {
  if (!output.shape) return Rows::kPerhaps;
  if (!HasDynamicRows(output)) return Rows::kOther;
  const std::string& own = output.shape->front().symbol;
  if (own == symbol && !own.empty()) return Rows::kSame;
  return IsNameless(own) || IsNameless(symbol) ? Rows::kPerhaps : Rows::kOther;
}

// "its shape is (3,) for 1 row of the inputs".
std::string ShapeWith(const Tensor& tensor, int64_t rows) {
  return "its shape is " + FormatDims(tensor.dims()) + " for " + Counted(rows, "row") +
         " of the inputs";
}

}  // namespace

Result<Tensor> TakeRows(const Tensor& tensor, std::span<const int64_t> rows) {
  Dims dims = tensor.dims();
  const auto of_rows = ByteSize(tensor.dtype(), 1);
  if (dims.empty() || dims.front() == 0 || !of_rows || tensor.dtype() == DType::kString ||
      tensor.bytes().size() % static_cast<size_t>(dims.front()) != 0) {
    return InvalidArgument("a tensor of shape " + FormatDims(dims) + " has no rows to take");
  }
  const size_t row_size = tensor.bytes().size() / static_cast<size_t>(dims.front());
  for (const int64_t row : rows) {
    if (row < 0 || row >= dims.front()) {
      return InvalidArgument("row " + std::to_string(row) + " of " + FormatDims(dims));
    }
  }
  dims.front() = static_cast<int64_t>(rows.size());
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer,
                           TensorBuffer::Allocate(tensor.dtype(), std::move(dims)));
  auto to = buffer.bytes().begin();
  for (const int64_t row : rows) {
    const auto from = tensor.bytes().subspan(static_cast<size_t>(row) * row_size, row_size);
    to = std::copy(from.begin(), from.end(), to);
  }
  return std::move(buffer).Freeze();
}

Result<TensorMap> TakeRows(const TensorMap& tensors, std::span<const std::string> names,
                           std::span<const int64_t> rows) {
  TensorMap taken;
  for (const NamedTensor& entry : tensors) {
    if (!ListHas(names, entry.name)) {
      taken.push_back(entry);
      continue;
    }
    Result<Tensor> some = TakeRows(entry.tensor, rows);
    if (!some.ok()) return Status(some.status()).Annotate("'" + entry.name + "'");
    taken.push_back({entry.name, *std::move(some)});
  }
  return taken;
}

Result<BatchNames> FindBatch(std::span<const TensorInfo> inputs,
                             std::span<const TensorInfo> outputs) {
  BatchNames batch;
  for (const TensorInfo& input : inputs) {
    if (!HasDynamicRows(input)) continue;
    const std::string& symbol = input.shape->front().symbol;
    if (!batch.inputs.empty() && symbol != batch.dimension) {
      return InvalidArgument("the first dimension of '" + batch.inputs.front() + "' is " +
                             Named(batch.dimension) + ", that of '" + input.name + "' is " +
                             Named(symbol));
    }
    batch.dimension = symbol;
    batch.inputs.push_back(input.name);
  }
  if (batch.inputs.empty()) return InvalidArgument("no input has a first dimension that is free");
  std::string others;
  for (const TensorInfo& output : outputs) {
    const Rows rows = RowsAs(output, batch.dimension);
    if (rows == Rows::kSame) batch.outputs.push_back(output.name);
    if (rows == Rows::kPerhaps) batch.possible.push_back(output.name);
    if (rows != Rows::kOther) continue;
    others += ", that of '" + output.name + "' is " + FirstOf(output);
    batch.left_out.push_back({output.name, "its first dimension is " + FirstOf(output)});
  }
  if (batch.outputs.empty() && batch.possible.empty() && !outputs.empty()) {
    return InvalidArgument("the first dimension of '" + batch.inputs.front() + "' is " +
                           Named(batch.dimension) + others);
  }
  for (const std::span<const TensorInfo> tensors : {inputs, outputs}) {
    const TensorInfo* const elsewhere = FindElsewhere(tensors, batch.dimension);
    if (elsewhere == nullptr) continue;
    return InvalidArgument(Named(batch.dimension) + " is not only the first dimension of '" +
                           batch.inputs.front() + "', but also another one of '" + elsewhere->name +
                           "'");
  }
  return batch;
}

Result<BatchNames> GuessBatch(const TensorMap& feed) {
  if (feed.empty() || feed.front().tensor.dims().empty()) {
    return InvalidArgument("the first input has no dimension");
  }
  BatchNames batch;
  const int64_t rows = feed.front().tensor.dims().front();
  for (const NamedTensor& input : feed) {
    if (HasRows(input.tensor, rows)) batch.inputs.push_back(input.name);
  }
  return batch;
}

int64_t CountRows(const TensorMap& feed, const BatchNames& batch) {
  return Find(feed, batch.inputs.front())->dims().front();
}

BatchNames KeepFollowers(BatchNames batch, const OutputsOfRows& once, const OutputsOfRows& again) {
  const bool any = batch.outputs.empty() && batch.possible.empty();
  for (const NamedTensor& output : once.outputs) {
    if (!any && !ListHas(batch.possible, output.name)) continue;
    const Tensor* other = Find(again.outputs, output.name);
    if (other != nullptr && HasRows(output.tensor, once.rows) && HasRows(*other, again.rows)) {
      batch.outputs.push_back(output.name);
      continue;
    }
    std::string why = ShapeWith(output.tensor, once.rows);
    why += other == nullptr ? ", and none" : ", and " + FormatDims(other->dims());
    batch.left_out.push_back({output.name, why + " for " + std::to_string(again.rows)});
  }
  batch.possible.clear();
  return batch;
}

BatchNames KeepRowOfOne(BatchNames batch, const TensorMap& of_one) {
  const auto is_other = [&](const std::string& name) {
    const Tensor* const tensor = Find(of_one, name);
    if (tensor == nullptr) return false;
    const Status row = TakeRows(*tensor, std::vector<int64_t>{0}).status();
    if (HasRows(*tensor, 1) && row.ok()) return false;
    batch.left_out.push_back({name, HasRows(*tensor, 1) ? row.message() : ShapeWith(*tensor, 1)});
    return true;
  };
  std::erase_if(batch.outputs, is_other);
  return batch;
}

}  // namespace vernier
