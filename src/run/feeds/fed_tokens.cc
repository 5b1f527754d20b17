#include "run/feeds/fed_tokens.h"

#include <string>
#include <utility>

#include "core/coordinates.h"
#include "inputs/cast_tensor.h"
#include "model/onnx/model_type.h"
#include "model/onnx/onnx_model.h"

namespace vernier {
namespace {

// Of an id that is in the way.
std::string NameOfToken(const TokenTable& table, int64_t id, size_t place, const Tensor& ids) {
  return "input '" + table.input + "': token " + std::to_string(id) + " at " +
         FormatDims(CoordinatesOf(static_cast<int64_t>(place), ids.dims()));
}

Status CheckRowsOf(const TokenTable& table, const Tensor& ids, Logger& logger) {
  VERNIER_ASSIGN_OR_RETURN(const Tensor wide, CastTensor(ids, DType::kInt64));
  const std::span<const int64_t> values = wide.As<int64_t>();
  const std::string rows = std::to_string(table.rows);
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= 0 && values[i] < table.rows) continue;
    if (values[i] < -table.rows || values[i] >= 0) {
      return Malformed(NameOfToken(table, values[i], i, ids) + " is not in the vocabulary: " +
                       table.node + " looks it up in '" + table.table + "', which has " + rows +
                       " rows, from 0 to " + std::to_string(table.rows - 1));
    }
    logger.Once(Severity::kWarning,
                NameOfToken(table, values[i], i, ids) + " counts from the end of the " + rows +
                    " rows of '" + table.table + "' in ONNX, as row " +
                    std::to_string(table.rows + values[i]) +
                    "; other runtimes may take another row: pad with a token of its own");
  }
  return {};
}

}  // namespace

const std::vector<TokenTable>& FedTokens::TablesOf(size_t index) const {
  const std::lock_guard lock(mutex_);
  const auto [place, added] = tables_.try_emplace(index);
  if (!added || index >= plan_->runners.size()) return place->second;
  const ModelPlan& model = plan_->runners[index].model;
  if (model.type != ModelTypeName(ModelType::kOnnx) || model.edited()) return place->second;
  const Result<OnnxModel> read = OnnxModel::Open(model.path);
  if (read.ok() && read->CheckIntact().ok()) place->second = FindTokenTables(*read);
  return place->second;
}

Status FedTokens::Check(size_t index, const TensorMap& feed, Logger& logger) const {
  if (plan_->lenient) return {};
  for (const NamedTensor& input : feed) {
    const DType dtype = input.tensor.dtype();
    if (dtype != DType::kInt32 && dtype != DType::kInt64) continue;
    for (const TokenTable& table : TablesOf(index)) {
      if (table.input == input.name) VERNIER_TRY(CheckRowsOf(table, input.tensor, logger));
    }
  }
  return {};
}

}  // namespace vernier
