#include "check/batch_rows.h"

#include <algorithm>

namespace vernier {
namespace {

bool HasDynamicRows(const TensorInfo& info) {
  return info.shape && !info.shape->empty() && info.shape->front().dynamic();
}

bool Contains(std::span<const std::string> names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
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
    if (!Contains(names, entry.name)) {
      taken.push_back(entry);
      continue;
    }
    Result<Tensor> some = TakeRows(entry.tensor, rows);
    if (!some.ok()) return Status(some.status()).Annotate("'" + entry.name + "'");
    taken.push_back({entry.name, *std::move(some)});
  }
  return taken;
}

std::optional<BatchNames> FindBatch(std::span<const TensorInfo> inputs,
                                    std::span<const TensorInfo> outputs) {
  BatchNames batch;
  for (const TensorInfo& input : inputs) {
    if (!HasDynamicRows(input)) continue;
    const std::string& symbol = input.shape->front().symbol;
    if (!batch.inputs.empty() && symbol != batch.dimension) return std::nullopt;
    batch.dimension = symbol;
    batch.inputs.push_back(input.name);
  }
  for (const TensorInfo& output : outputs) {
    if (!output.shape || HasDynamicRows(output)) batch.outputs.push_back(output.name);
  }
  if (batch.inputs.empty() || (batch.outputs.empty() && !outputs.empty())) return std::nullopt;
  return batch;
}

}  // namespace vernier
