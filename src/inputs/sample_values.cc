#include "inputs/sample_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "inputs/float_encode.h"
#include "inputs/nibbles.h"
#include "kernels/element_blocks.h"
#include "util/number_text.h"

namespace vernier {
namespace {

// More values than this tell nothing more of a distribution.
constexpr int64_t kMostValues = int64_t{1} << 20;

// Calls `take` with every n-th value, so that no more than kMostValues are taken.
template <typename T, typename Take>
void ForEachValue(const Tensor& tensor, const Take& take) {
  const ElementSpan elements{tensor.dtype(), tensor.bytes(), tensor.element_count()};
  const int64_t step = (tensor.element_count() + kMostValues - 1) / kMostValues;
  std::array<T, kBlockSize> scratch;
  int64_t next = 0;
  for (int64_t begin = 0; begin < elements.count; begin += static_cast<int64_t>(kBlockSize)) {
    const auto size = static_cast<size_t>(
        std::min<int64_t>(static_cast<int64_t>(kBlockSize), elements.count - begin));
    const T* block = LoadBlock(elements, begin, size, scratch.data());
    for (; next < begin + static_cast<int64_t>(size); next += step) take(block[next - begin]);
  }
}

// Where between 0 and 1 the next value lies in the order of the sample.
class Places {
 public:
  explicit Places(NumpyRandom& random) : random_(random) {}
  double Next() {
    if (at_ == block_.size()) {
      random_.FillDoubles(block_);
      at_ = 0;
    }
    return block_[at_++];
  }

 private:
  NumpyRandom& random_;
  std::array<double, 256> block_{};
  size_t at_ = block_.size();
};

double Between(const std::vector<double>& sorted, double place) {
  const double position = place * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = position - static_cast<double>(below);
  return sorted[below] * (1 - part) + sorted[above] * part;
}

template <typename T, typename Value>
void Fill(TensorBuffer& buffer, const Value& value) {
  for (T& element : buffer.As<T>()) element = static_cast<T>(value());
}

template <typename Value>
void FillNibbles(TensorBuffer& buffer, int64_t count, const Value& value) {
  std::vector<uint8_t> codes(static_cast<size_t>(count));
  for (uint8_t& code : codes) code = static_cast<uint8_t>(value());
  PackNibbles(codes, buffer.bytes());
}

Status CheckFits(DType dtype, int64_t low, int64_t high) {
  const int bits = BitsOf(dtype);
  const bool is_signed = Kind(dtype) == DTypeKind::kSignedInt;
  if (dtype == DType::kBool || bits >= 64) {
    const bool fits = bits >= 64 ? is_signed || low >= 0 : low >= 0 && high <= 1;
    if (fits) return {};
  } else {
    const int64_t top = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
    if (low >= (is_signed ? -top - 1 : 0) && high <= top) return {};
  }
  return Malformed("the sample's values from " + std::to_string(low) + " to " +
                   std::to_string(high) + " do not fit " + std::string(DTypeName(dtype)));
}

}  // namespace

Result<SampleValues> SampleValues::Learn(const Tensor& sample) {
  const DTypeKind kind = Kind(sample.dtype());
  if (kind == DTypeKind::kString || kind == DTypeKind::kComplex || kind == DTypeKind::kNone) {
    return Malformed("values of type " + std::string(DTypeName(sample.dtype())) +
                     " cannot be imitated; load them with --load-inputs");
  }
  SampleValues values;
  double sum = 0;
  if (kind == DTypeKind::kFloat) {
    ForEachValue<double>(sample, [&](double value) {
      if (!std::isfinite(value)) {
        ++values.left_out_;
        return;
      }
      values.floats_.push_back(value);
      sum += value;
    });
    std::sort(values.floats_.begin(), values.floats_.end());
  } else {
    ForEachValue<int64_t>(sample, [&](int64_t value) {
      values.integers_.push_back(value);
      sum += static_cast<double>(value);
    });
    std::sort(values.integers_.begin(), values.integers_.end());
  }
  const size_t kept = values.floats_.size() + values.integers_.size();
  if (kept == 0) return Malformed("the sample has no finite values");
  values.count_ = static_cast<int64_t>(kept);
  values.mean_ = sum / static_cast<double>(kept);
  return values;
}

Result<Tensor> SampleValues::Draw(DType dtype, Dims dims, NumpyRandom& random) const {
  const std::optional<int64_t> count = ElementCount(dims);
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer, TensorBuffer::Allocate(dtype, std::move(dims)));
  Places places(random);
  const auto number = [&]() -> double {
    if (!floats_.empty()) return Between(floats_, places.Next());
    const auto at = static_cast<size_t>(places.Next() * static_cast<double>(integers_.size()));
    return static_cast<double>(integers_[std::min(at, integers_.size() - 1)]);
  };
  if (const std::optional<NarrowFloat> narrow = NarrowFloat::Of(dtype)) {
    const auto code = [&] { return narrow->Encode(number()); };
    if (BitsOf(dtype) == 16) Fill<uint16_t>(buffer, code);
    if (BitsOf(dtype) == 8) Fill<uint8_t>(buffer, code);
    if (BitsOf(dtype) == 4) FillNibbles(buffer, count.value_or(0), code);
    return std::move(buffer).Freeze();
  }
  if (dtype == DType::kFloat32) Fill<float>(buffer, number);
  if (dtype == DType::kFloat64) Fill<double>(buffer, number);
  if (Kind(dtype) == DTypeKind::kFloat) return std::move(buffer).Freeze();
  if (Kind(dtype) == DTypeKind::kString || Kind(dtype) == DTypeKind::kComplex) {
    return Malformed("values of type " + std::string(DTypeName(dtype)) +
                     " cannot be generated; load them with --load-inputs");
  }
  const auto integer = [&]() -> int64_t {
    if (!floats_.empty()) return static_cast<int64_t>(Between(floats_, places.Next()));
    const auto at = static_cast<size_t>(places.Next() * static_cast<double>(integers_.size()));
    return integers_[std::min(at, integers_.size() - 1)];
  };
  const int64_t low = integers_.empty() ? static_cast<int64_t>(floats_.front()) : integers_.front();
  const int64_t high = integers_.empty() ? static_cast<int64_t>(floats_.back()) : integers_.back();
  VERNIER_TRY(CheckFits(dtype, low, high));
  if (BitsOf(dtype) == 4) FillNibbles(buffer, count.value_or(0), integer);
  if (BitsOf(dtype) == 8) Fill<uint8_t>(buffer, integer);
  if (BitsOf(dtype) == 16) Fill<uint16_t>(buffer, integer);
  if (BitsOf(dtype) == 32) Fill<uint32_t>(buffer, integer);
  if (BitsOf(dtype) == 64) Fill<uint64_t>(buffer, integer);
  return std::move(buffer).Freeze();
}

std::string SampleValues::Describe() const {
  const bool floats = !floats_.empty();
  std::string text = std::to_string(count_) + " values from " +
                     (floats ? FormatG(floats_.front(), 6) : std::to_string(integers_.front())) +
                     " to " +
                     (floats ? FormatG(floats_.back(), 6) : std::to_string(integers_.back())) +
                     ", mean " + FormatG(mean_, 6);
  if (left_out_ > 0) text += " (" + std::to_string(left_out_) + " that are not finite left out)";
  return text;
}

}  // namespace vernier
