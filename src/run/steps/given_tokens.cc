#include "run/steps/given_tokens.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "inputs/cast_tensor.h"
#include "io/bytes/checksum.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

std::string PlaceOf(size_t index, int64_t columns) {
  const auto at = static_cast<int64_t>(index);
  return "row " + std::to_string(at / columns) + ", place " + std::to_string(at % columns);
}

// What int64 has no room for would be another number.
Status CheckWide(const Tensor& tokens, const std::string& flag) {
  const std::span<const uint64_t> ids = tokens.As<uint64_t>();
  const auto found = std::ranges::find_if(ids, [](uint64_t id) { return id > INT64_MAX; });
  if (found == ids.end()) return {};
  return Malformed(flag + "token " + std::to_string(*found) + " at " +
                   PlaceOf(static_cast<size_t>(found - ids.begin()), tokens.dims().back()) +
                   " is not a token id: it is too large");
}

}  // namespace

Result<GivenTokens> GivenTokens::Create(std::string source, const Tensor& tokens) {
  GivenTokens given;
  given.source_ = std::move(source);
  const std::string flag = "--tokens " + given.source_ + ": ";
  const size_t rank = tokens.dims().size();
  if (!IsIntegral(tokens.dtype()) || rank < 1 || rank > 2 || tokens.element_count() == 0) {
    return Malformed(flag +
                     "expected integers [prompts, tokens], the tokens behind each prompt, got " +
                     std::string(DTypeName(tokens.dtype())) + " " + FormatDims(tokens.dims()));
  }
  given.columns_ = tokens.dims().back();
  if (tokens.dtype() == DType::kUint64) VERNIER_TRY(CheckWide(tokens, flag));
  VERNIER_ASSIGN_OR_RETURN(const Tensor wide, CastTensor(tokens, DType::kInt64));
  const auto ids = wide.As<int64_t>();
  given.ids_.assign(ids.begin(), ids.end());
  given.rows_ = rank == 2 ? tokens.dims().front() : 1;
  for (size_t i = 0; i < given.ids_.size(); ++i) {
    if (given.ids_[i] >= 0) continue;
    return Malformed(flag + "token " + std::to_string(given.ids_[i]) + " at " +
                     PlaceOf(i, given.columns_) + " is not a token id, which is at least 0");
  }
  return given;
}

uint64_t GivenTokens::Hash() const {
  Checksum sum;
  sum.Add(std::as_bytes(std::span(&columns_, 1)));
  sum.Add(std::as_bytes(std::span(ids_)));
  constexpr int kKindBits = 24;
  return sum.value() >> kKindBits;
}

Status GivenTokens::CheckVocabulary(int64_t vocabulary, const std::string& whose) const {
  for (size_t i = 0; i < ids_.size(); ++i) {
    if (ids_[i] < vocabulary) continue;
    return Malformed("--tokens " + source_ + ": token " + std::to_string(ids_[i]) + " at " +
                     PlaceOf(i, columns_) + " is not in the vocabulary: " + whose + " has " +
                     Counted(vocabulary, "token") + ", from 0 to " +
                     std::to_string(vocabulary - 1));
  }
  return {};
}

Status GivenTokens::CheckFed(int64_t steps, int64_t rows, const std::string& table) const {
  for (size_t i = 0; i < ids_.size(); ++i) {
    const bool fed = static_cast<int64_t>(i) % columns_ + 1 < steps;
    if (!fed || ids_[i] < rows) continue;
    return Malformed("--tokens " + source_ + ": token " + std::to_string(ids_[i]) + " at " +
                     PlaceOf(i, columns_) + " is not in the vocabulary: " + table + " has " +
                     std::to_string(rows) + " rows, from 0 to " + std::to_string(rows - 1));
  }
  return {};
}

Result<std::optional<std::vector<int64_t>>> GivenTokens::Behind(const StepPosition& position,
                                                                int64_t batch) const {
  const auto before = ends_.find(position.sequence - 1);
  int64_t first = before == ends_.end() ? position.sequence * batch : before->second;
  if (rows_ == batch) first = 0;
  if (first + batch > rows_) {
    return Malformed("--tokens " + source_ + ": it has " + Counted(rows_, "row") +
                     ", and sequence " + std::to_string(position.sequence) + " is of " +
                     Counted(batch, "prompt") + ": a row for each prompt of one sequence, or of " +
                     "all of them one after another");
  }
  if (rows_ != batch) ends_[position.sequence] = first + batch;
  if (position.step >= columns_) return std::optional<std::vector<int64_t>>();
  std::vector<int64_t> tokens;
  for (int64_t row = first; row < first + batch; ++row) {
    tokens.push_back(ids_[static_cast<size_t>(row * columns_ + position.step)]);
  }
  return std::optional(std::move(tokens));
}

}  // namespace vernier
