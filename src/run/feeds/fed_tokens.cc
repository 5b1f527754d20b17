#include "run/feeds/fed_tokens.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

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

bool MayBeTokens(const NamedTensor& input) {
  return input.tensor.dtype() == DType::kInt32 || input.tensor.dtype() == DType::kInt64;
}

std::vector<TokenTable> ReadTables(const ModelPlan& model) {
  if (model.type != ModelTypeName(ModelType::kOnnx) || model.edited()) return {};
  const Result<OnnxModel> read = OnnxModel::Open(model.path);
  return read.ok() && read->CheckIntact().ok() ? FindTokenTables(*read) : std::vector<TokenTable>();
}

Status CheckTables(const std::vector<TokenTable>& tables, const TensorMap& feed, Logger& logger) {
  for (const NamedTensor& input : feed) {
    if (!MayBeTokens(input)) continue;
    for (const TokenTable& table : tables) {
      if (table.input == input.name) VERNIER_TRY(CheckRowsOf(table, input.tensor, logger));
    }
  }
  return {};
}

// What counts places or tokens from 0 on, whatever a model does with it.
bool CountsFromZero(std::string_view input) {
  return input.ends_with("position_ids") || input.ends_with("cache_position") ||
         input.ends_with("input_ids");
}

std::string ValueWouldBe(int64_t value) { return "a value would be " + std::to_string(value); }

Status CheckNotBelowZero(const NamedTensor& made, std::span<const int64_t> values, bool looked_up) {
  const auto least = std::ranges::min_element(values);
  if (least == values.end() || *least >= 0 || !(looked_up || CountsFromZero(made.name))) return {};
  return Malformed(ValueWouldBe(*least) +
                   (looked_up ? ", which counts from the end in ONNX, and not in every runtime"
                              : ", and '" + made.name + "' counts from 0 on"));
}

}  // namespace

Status CheckTokens(const ModelPlan& model, const TensorMap& feed, Logger& logger) {
  if (std::ranges::none_of(feed, MayBeTokens)) return {};
  return CheckTables(ReadTables(model), feed, logger);
}

const std::vector<TokenTable>& FedTokens::TablesOf(size_t index) const {
  const std::lock_guard lock(mutex_);
  const auto [place, added] = tables_.try_emplace(index);
  if (added && index < plan_->runners.size()) {
    place->second = ReadTables(plan_->runners[index].model);
  }
  return place->second;
}

Status FedTokens::Check(size_t index, const TensorMap& feed, Logger& logger) const {
  if (plan_->lenient || std::ranges::none_of(feed, MayBeTokens)) return {};
  return CheckTables(TablesOf(index), feed, logger);
}

std::vector<TokenTable> FedTokens::TablesOfInput(size_t index, const std::string& input) const {
  std::vector<TokenTable> tables;
  if (plan_->lenient) return tables;
  std::ranges::copy_if(TablesOf(index), std::back_inserter(tables),
                       [&](const TokenTable& table) { return table.input == input; });
  return tables;
}

Status FedTokens::CheckMade(size_t index, const NamedTensor& made, bool down) const {
  if (plan_->lenient || !MayBeTokens(made)) return {};
  VERNIER_ASSIGN_OR_RETURN(const Tensor wide, CastTensor(made.tensor, DType::kInt64));
  const std::span<const int64_t> values = wide.As<int64_t>();
  bool looked_up = false;
  for (const TokenTable& table : TablesOf(index)) {
    if (table.input != made.name) continue;
    looked_up = true;
    const auto beyond = std::ranges::find_if(
        values, [&](int64_t value) { return value >= table.rows || value < -table.rows; });
    if (beyond == values.end()) continue;
    return Malformed(ValueWouldBe(*beyond) + ", and '" + table.table + "', in which " + table.node +
                     " looks it up, has " + std::to_string(table.rows) + " rows, from 0 to " +
                     std::to_string(table.rows - 1));
  }
  return down ? CheckNotBelowZero(made, values, looked_up) : Status();
}

}  // namespace vernier
