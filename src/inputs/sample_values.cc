#include "inputs/sample_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "inputs/float_encode.h"
#include "inputs/nibbles.h"
#include "kernels/elements/element_blocks.h"
#include "kernels/elements/tensor_elements.h"
#include "util/text/number_text.h"
#include "util/values/plural_text.h"

namespace vernier {
namespace {

// More values than this add nothing to a distribution.
constexpr int64_t kMostValues = int64_t{1} << 20;

// Calls `take` with every n-th value, so that no more than kMostValues are taken.
template <typename T, typename Take>
void ForEachValue(const Tensor& tensor, const Take& take) {
  const ElementSpan elements = Elements(tensor);
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

template <typename T>
T Pick(const std::vector<T>& values, double place) {
  const auto at = static_cast<size_t>(place * static_cast<double>(values.size()));
  return values[std::min(at, values.size() - 1)];
}

template <typename T, typename Value>
void Fill(TensorBuffer& buffer, const Value& value) {
  for (T& element : buffer.As<T>()) element = static_cast<T>(value());
}

// Elements of so many bits.
template <typename Value>
void FillCodes(TensorBuffer& buffer, int bits, const Value& value) {
  if (bits == 4) {
    std::vector<uint8_t> codes(buffer.As<uint8_t>().size());  // one for each element
    for (uint8_t& code : codes) code = static_cast<uint8_t>(value());
    PackNibbles(codes, buffer.bytes());
  }
  if (bits == 8) Fill<uint8_t>(buffer, value);
  if (bits == 16) Fill<uint16_t>(buffer, value);
  if (bits == 32) Fill<uint32_t>(buffer, value);
  if (bits == 64) Fill<uint64_t>(buffer, value);
}

bool FitsInteger(DType dtype, int64_t low, int64_t high) {
  const int bits = BitsOf(dtype);
  const bool is_signed = Kind(dtype) == DTypeKind::kSignedInt;
  if (dtype == DType::kBool) return low >= 0 && high <= 1;
  if (bits >= 64) return is_signed || low >= 0;
  const int64_t top = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  return low >= (is_signed ? -top - 1 : 0) && high <= top;
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

Status SampleValues::CheckFits(DType dtype) const {
  bool fits = true;
  if (Kind(dtype) == DTypeKind::kFloat) {
    const double most = LargestFinite(dtype);
    fits = floats_.empty() ? -most <= static_cast<double>(integers_.front()) &&
                                 static_cast<double>(integers_.back()) <= most
                           : -most <= floats_.front() && floats_.back() <= most;
  } else if (floats_.empty()) {
    fits = FitsInteger(dtype, integers_.front(), integers_.back());
  } else {
    fits = -0x1p63 <= floats_.front() && floats_.back() < 0x1p63 &&
           FitsInteger(dtype, static_cast<int64_t>(floats_.front()),
                       static_cast<int64_t>(floats_.back()));
  }
  if (fits) return {};
  return Malformed("the sample's values " + Bounds() + " do not fit " +
                   std::string(DTypeName(dtype)));
}

void SampleValues::FillFloats(TensorBuffer& buffer, DType dtype, NumpyRandom& random) const {
  Places places(random);
  const auto number = [&]() -> double {
    if (!floats_.empty()) return Between(floats_, places.Next());
    return static_cast<double>(Pick(integers_, places.Next()));
  };
  if (dtype == DType::kFloat32) return Fill<float>(buffer, number);
  if (dtype == DType::kFloat64) return Fill<double>(buffer, number);
  const NarrowFloat narrow = *NarrowFloat::Of(dtype);
  FillCodes(buffer, BitsOf(dtype), [&] { return narrow.Encode(number()); });
}

void SampleValues::FillIntegers(TensorBuffer& buffer, DType dtype, NumpyRandom& random) const {
  Places places(random);
  FillCodes(buffer, BitsOf(dtype), [&]() -> int64_t {
    if (!floats_.empty()) return static_cast<int64_t>(Pick(floats_, places.Next()));
    return Pick(integers_, places.Next());
  });
}

Result<Tensor> SampleValues::Draw(DType dtype, Dims dims, NumpyRandom& random) const {
  const DTypeKind kind = Kind(dtype);
  if (kind == DTypeKind::kString || kind == DTypeKind::kComplex || kind == DTypeKind::kNone) {
    return Malformed("values of type " + std::string(DTypeName(dtype)) +
                     " cannot be generated; load them with --load-inputs");
  }
  VERNIER_TRY(CheckFits(dtype));
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer, TensorBuffer::Allocate(dtype, std::move(dims)));
  if (kind == DTypeKind::kFloat) {
    FillFloats(buffer, dtype, random);
  } else {
    FillIntegers(buffer, dtype, random);
  }
  return std::move(buffer).Freeze();
}

std::string SampleValues::Bounds() const {
  if (floats_.empty()) {
    return "from " + std::to_string(integers_.front()) + " to " + std::to_string(integers_.back());
  }
  return "from " + FormatG(floats_.front(), 6) + " to " + FormatG(floats_.back(), 6);
}

std::string SampleValues::Describe() const {
  std::string text = Counted(count_, "value") + " " + Bounds() + ", mean " + FormatG(mean_, 6);
  if (left_out_ > 0) text += " (" + std::to_string(left_out_) + " that are not finite left out)";
  return text;
}

}  // namespace vernier
