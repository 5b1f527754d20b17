#include "run/steps/greedy_tokens.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "inputs/cast_tensor.h"
#include "kernels/elements/element_blocks.h"
#include "kernels/elements/tensor_elements.h"

namespace vernier {
namespace {

// The last positions of the rows of a batch.
struct LastPositions {
  int64_t batch = 0;
  int64_t positions = 0;
  int64_t classes = 0;

  int64_t StartOf(int64_t row) const { return ((row + 1) * positions - 1) * classes; }
};

std::optional<LastPositions> FindLastPositions(const Tensor& logits) {
  const Dims& dims = logits.dims();
  if (Kind(logits.dtype()) != DTypeKind::kFloat) return std::nullopt;
  if (dims.size() != 2 && dims.size() != 3) return std::nullopt;
  const LastPositions found{dims.front(), dims.size() == 3 ? dims[1] : 1, dims.back()};
  const bool any = found.batch > 0 && found.positions > 0 && found.classes > 0;
  return any ? std::optional(found) : std::nullopt;
}

int64_t LargestOf(const ElementSpan& elements, int64_t start, int64_t classes) {
  std::array<double, kBlockSize> scratch;
  int64_t best = kNoChoice;
  double largest = 0;
  for (int64_t done = 0; done < classes;) {
    const auto count =
        static_cast<size_t>(std::min<int64_t>(classes - done, static_cast<int64_t>(kBlockSize)));
    const double* const values = LoadBlock(elements, start + done, count, scratch.data());
    for (size_t i = 0; i < count; ++i) {
      if (std::isnan(values[i])) return kNoChoice;
      if (best != kNoChoice && !(values[i] > largest)) continue;
      best = done + static_cast<int64_t>(i);
      largest = values[i];
    }
    done += static_cast<int64_t>(count);
  }
  return best;
}

}  // namespace

Result<std::vector<int64_t>> GreedyTokens(const Tensor& logits) {
  const std::optional<LastPositions> last = FindLastPositions(logits);
  if (!last) {
    const bool empty = logits.dims().size() == 3 && logits.element_count() == 0;
    return Malformed("logits are floats [batch, sequence, vocabulary], not " +
                     std::string(DTypeName(logits.dtype())) + " " + FormatDims(logits.dims()) +
                     (empty ? ": no token was fed, or the sizes of what was fed do not belong "
                              "together; give a prompt with --load-inputs, or --input-shapes"
                            : ""));
  }
  std::vector<int64_t> tokens;
  for (int64_t row = 0; row < last->batch; ++row) {
    tokens.push_back(LargestOf(Elements(logits), last->StartOf(row), last->classes));
  }
  return tokens;
}

double LogitOf(const Tensor& logits, size_t row, int64_t token) {
  const std::optional<LastPositions> last = FindLastPositions(logits);
  const auto place = static_cast<int64_t>(row);
  if (!last || place >= last->batch || token < 0 || token >= last->classes) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  double scratch = 0;
  return *LoadBlock(Elements(logits), last->StartOf(place) + token, 1, &scratch);
}

Result<Tensor> TokensAsInput(const std::vector<int64_t>& tokens, DType dtype, size_t rank) {
  Dims dims = {static_cast<int64_t>(tokens.size())};
  if (rank != 1) dims.push_back(1);
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer, TensorBuffer::Allocate(DType::kInt64, dims));
  std::ranges::copy(tokens, buffer.As<int64_t>().begin());
  const Tensor wide = std::move(buffer).Freeze();
  if (!CanCast(DType::kInt64, dtype) || AnyOutOfRange(wide, dtype)) {
    return Malformed("tokens up to " + std::to_string(std::ranges::max(tokens)) +
                     " do not fit the type " + std::string(DTypeName(dtype)));
  }
  return CastTensor(wide, dtype);
}

bool IsPerToken(const Dims& dims, const Dims& prompt) {
  if (prompt.empty() || prompt.back() == 1) return false;
  if (dims.size() >= prompt.size()) {
    return std::equal(prompt.rbegin(), prompt.rend(), dims.rbegin());
  }
  return dims.size() == 1 && dims.front() == prompt.back() && prompt.front() != prompt.back();
}

}  // namespace vernier
