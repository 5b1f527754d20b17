#include "gpu/stream_totals.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace vernier::gpu {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kNoIndex = std::numeric_limits<int64_t>::max();

}  // namespace

// Knuth's sum, as in stream_state.cuh.
void Accumulate(WideSum& sum, double value) {
  const double next = sum.high + value;
  const double part = next - sum.high;
  sum.low += (sum.high - (next - part)) + (value - part);
  sum.high = next;
}

void Accumulate(WideSum& sum, const WideSum& other) {
  Accumulate(sum, other.high);
  sum.low += other.low;
}

double ValueOf(const WideSum& sum) {
  return std::isfinite(sum.high) ? sum.high + sum.low : sum.high;
}

double StreamTotals::Number(uint64_t raw) const {
  switch (type_) {
    case StreamType::kFloating:
      return std::bit_cast<double>(raw);
    case StreamType::kSigned:
      return static_cast<double>(static_cast<int64_t>(raw));
    case StreamType::kUnsigned:
      break;
  }
  return static_cast<double>(raw);
}

bool StreamTotals::Less(uint64_t a, uint64_t b) const {
  switch (type_) {
    case StreamType::kFloating:
      return std::bit_cast<double>(a) < std::bit_cast<double>(b);
    case StreamType::kSigned:
      return static_cast<int64_t>(a) < static_cast<int64_t>(b);
    case StreamType::kUnsigned:
      break;
  }
  return a < b;
}

void StreamTotals::Add(const StreamRecord& record) {
  if (!any_) {
    any_ = true;
    total_ = record;
    return;
  }
  StreamRecord& t = total_;
  Accumulate(t.sum, record.sum);
  Accumulate(t.magnitudes, record.magnitudes);
  Accumulate(t.squares, record.squares);
  // Blocks interleave: of equal extrema the earlier place counts. -1 is nowhere.
  const auto earlier = [](int64_t a, int64_t b) { return a >= 0 && (b < 0 || a < b); };
  const bool same_min = !Less(t.min, record.min);
  const bool same_max = !Less(record.max, t.max);
  if (Less(record.min, t.min) || (same_min && earlier(record.argmin, t.argmin))) {
    t.min = record.min;
    t.argmin = record.argmin;
  }
  if (Less(t.max, record.max) || (same_max && earlier(record.argmax, t.argmax))) {
    t.max = record.max;
    t.argmax = record.argmax;
  }
  t.nan_count += record.nan_count;
  t.infinite_count += record.infinite_count;
  t.first_nan = std::min(t.first_nan, record.first_nan);
  t.first_infinite = std::min(t.first_infinite, record.first_infinite);
}

bool StreamTotals::overflows() const {
  return total_.nan_count == 0 && total_.infinite_count == 0 &&
         !(std::isfinite(total_.sum.high) && std::isfinite(total_.magnitudes.high) &&
           std::isfinite(total_.squares.high));
}

ValueStatistics StreamTotals::Finish(int64_t count, Sign sign, double pilot) const {
  ValueStatistics out;
  out.count = count;
  const auto n = static_cast<double>(count);
  out.nan_count = total_.nan_count;
  out.infinite_count = total_.infinite_count;
  out.first_nan = total_.first_nan == kNoIndex ? -1 : total_.first_nan;
  out.first_infinite = total_.first_infinite == kNoIndex ? -1 : total_.first_infinite;
  out.mean = ValueOf(total_.sum) / n;
  out.average_magnitude = ValueOf(sign == Sign::kAny ? total_.magnitudes : total_.sum) / n;
  const bool finite = out.nan_count == 0 && out.infinite_count == 0;
  // The sum less n times the pilot, both exact until they meet: where the mean is large and the
  // spread small, what remains is small.
  const double shift = n * pilot;
  const double shift_error = std::fma(n, pilot, -shift);
  const double deviations = (total_.sum.high - shift) + (total_.sum.low - shift_error);
  const double squares = ValueOf(total_.squares) - deviations * (deviations / n);
  out.variance = finite ? std::max(squares, 0.0) / n : kNoNumber;
  out.std_dev = std::sqrt(out.variance);
  out.median = kNoNumber;
  if (out.nan_count > 0) {
    out.min = out.max = kNoNumber;
    out.argmin = out.argmax = total_.first_nan;
    return out;
  }
  out.min = Number(total_.min);
  out.max = Number(total_.max);
  // Nothing lay below what the search began with: then every element equals that.
  out.argmin = std::max<int64_t>(total_.argmin, 0);
  out.argmax = std::max<int64_t>(total_.argmax, 0);
  return out;
}

}  // namespace vernier::gpu
