#include "gpu/device_measures.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>

#include "gpu/device_codes.h"
#include "gpu/kernel_records.h"
#include "gpu/pair_variants.h"
#include "gpu/rank_selection.h"
#include "gpu/stream_totals.h"
#include "kernels/measures/pair_measures.h"
#include "kernels/measures/quantile_rule.h"

namespace vernier::gpu {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kNowhere = std::numeric_limits<int64_t>::max();

double NumberOf(KeyType type, uint64_t key) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  const auto narrow = static_cast<uint32_t>(key);
  switch (type) {
    case KeyType::kMagnitude32:
      return static_cast<double>(std::bit_cast<float>(narrow));
    case KeyType::kFloat32:
      return static_cast<double>(
          std::bit_cast<float>(narrow >> 31 != 0 ? narrow & 0x7fffffffu : ~narrow));
    case KeyType::kMagnitude64:
      return std::bit_cast<double>(key);
    case KeyType::kFloat64:
      return std::bit_cast<double>((key & kSign) != 0 ? key & ~kSign : ~key);
    case KeyType::kInt64:
      return static_cast<double>(static_cast<int64_t>(key ^ kSign));
    case KeyType::kUint64:
      break;
  }
  return static_cast<double>(key);
}

void FillRanks(ValueStatistics& out, std::span<const double> quantiles, const RankWalk& walk,
               KeyType type) {
  const auto value = [&](int64_t rank) { return NumberOf(type, walk.KeyOf(rank)); };
  out.median = MiddleOf(value((out.count - 1) / 2), value(out.count / 2));
  out.quantiles.clear();
  for (const double quantile : quantiles) {
    const RankPosition position = Locate(out.count, quantile);
    out.quantiles.push_back(
        Interpolate(value(position.previous), value(position.next), position.fraction));
  }
}

// With a NaN every rank is NaN.
void FillNan(ValueStatistics& out, size_t quantile_count) {
  out.median = kNan;
  out.quantiles.assign(quantile_count, kNan);
}

unsigned BlocksFor(int64_t count, unsigned most) {
  const int64_t per_block = static_cast<int64_t>(kThreads) * kElementsPerThread;
  return static_cast<unsigned>(std::clamp<int64_t>(count / per_block, 1, most));
}

// The largest number of the differences' type that a tolerance admits. Nothing is above NaN, so
// only NaN lies outside a tolerance of NaN.
double LimitOf(double tolerance, bool narrow) {
  if (std::isnan(tolerance)) return kInfinity;
  if (!narrow) return tolerance;
  if (tolerance > std::numeric_limits<float>::max() && std::isfinite(tolerance)) {
    return static_cast<double>(std::numeric_limits<float>::max());
  }
  if (tolerance < std::numeric_limits<float>::lowest()) return -kInfinity;
  const auto rounded = static_cast<float>(tolerance);
  const bool above = static_cast<double>(rounded) > tolerance;
  return static_cast<double>(
      above ? std::nextafter(rounded, -std::numeric_limits<float>::infinity()) : rounded);
}

PairArgs MakeArgs(const DeviceElements& a, const DeviceElements& b, const DifferenceRule& rule,
                  const PairVariant& variant) {
  PairArgs args{};
  args.a = reinterpret_cast<const void*>(a.data);
  args.b = reinterpret_cast<const void*>(b.data);
  args.count = a.count;
  args.a_type = static_cast<int32_t>(a.dtype);
  args.b_type = static_cast<int32_t>(b.dtype);
  const auto flag = [&](bool on, uint32_t bit) { args.flags |= on ? bit : 0u; };
  flag(Kind(b.dtype) == DTypeKind::kFloat, kReplaceZero);
  flag(rule.infinities_equal, kInfinitiesEqual);
  flag(a.dtype == DType::kUint64, kAUnsigned);
  flag(b.dtype == DType::kUint64, kBUnsigned);
  const bool narrow = variant.relative_dtype == DType::kFloat32;
  args.absolute_limit = LimitOf(rule.atol, narrow);
  args.relative_limit = LimitOf(rule.rtol, narrow);
  args.always_fails = rule.atol < 0 ? 1 : 0;
  args.whole_limit = rule.atol >= 0 && rule.atol < 0x1p64 ? static_cast<uint64_t>(rule.atol)
                                                          : std::numeric_limits<uint64_t>::max();
  args.atol = rule.atol;
  args.rtol = rule.rtol;
  args.inverse_atol = static_cast<float>(1 / rule.atol);
  args.inverse_rtol = static_cast<float>(1 / rule.rtol);
  return args;
}

// The pilots and the first bounds lie before the records.
constexpr size_t kRecordOffset = 64;
static_assert(kRecordOffset + (kMostBlocks + 1) * sizeof(PairRecord) <=
              DeviceKernels::kResultBytes);
static_assert(kMostBuckets * (sizeof(uint64_t) << kDigitBits) <= DeviceKernels::kResultBytes);
static_assert(2 * (sizeof(uint64_t) << kFirstDigitBits) <= DeviceKernels::kResultBytes);

template <typename T>
std::span<const T> Records(const DeviceKernels& kernels, size_t count) {
  return {reinterpret_cast<const T*>(kernels.fetched() + kRecordOffset), count};
}

double Pilot(const DeviceKernels& kernels, size_t stream) {
  double pilot;
  std::memcpy(&pilot, kernels.fetched() + stream * sizeof(pilot), sizeof(pilot));
  return pilot;
}

// No element fails: the largest differences bound every element's ratio.
double PassingRatio(const DifferenceSummary& summary, const DifferenceRule& rule) {
  const auto ratio = [](double value, double tolerance) {
    const double quotient = value / tolerance;
    return std::isnan(quotient) ? kInfinity : quotient;
  };
  if (summary.absolute.max == 0) return 0;
  return std::min(
      {ratio(summary.absolute.max, rule.atol), ratio(summary.relative.max, rule.rtol), 1.0});
}

Status SumsOverflow() { return Unimplemented("sums beyond float64 are not computed on a GPU"); }

class Measurement {
 public:
  Measurement(DeviceKernels& kernels, const DeviceElements& a, const DeviceElements& b,
              const MeasureRequest& request)
      : kernels_(kernels),
        a_(a),
        b_(b),
        request_(request),
        variant_(VariantOf(a, b, request.rule.infinities_equal)),
        args_(MakeArgs(a, b, request.rule, variant_)),
        blocks_(BlocksFor(a.count, kMostBlocks)) {}

  Result<PairMeasures> Run() {
    VERNIER_TRY(kernels_.WaitFor(a_.ready));
    VERNIER_TRY(kernels_.WaitFor(b_.ready));
    VERNIER_TRY(Tally());
    if (request_.differences == StatisticsLevel::kRanks) VERNIER_TRY(RankDifferences());
    VERNIER_ASSIGN_OR_RETURN(out_.a, MeasureSide(a_));
    VERNIER_ASSIGN_OR_RETURN(out_.b, MeasureSide(b_));
    if (request_.products) VERNIER_TRY(Products());
    return std::move(out_);
  }

 private:
  // Pilots and bounds, the record of all, and the records of the blocks, in this order.
  Status Tally() {
    const bool moments = request_.differences != StatisticsLevel::kNone;
    cuda::DevicePointer pilots = kernels_.results();
    cuda::DevicePointer whole = kernels_.results() + kRecordOffset;
    cuda::DevicePointer records = whole + sizeof(PairRecord);
    if (moments) {
      void* pilot_arguments[] = {&args_, &pilots};
      VERNIER_TRY(kernels_.Run({variant_.name, "pair_pilot"}, pilot_arguments));
    }
    uint32_t count = moments ? BlocksFor(a_.count, kMostMomentBlocks) : blocks_;
    void* arguments[] = {&args_, &pilots, &records};
    VERNIER_TRY(
        kernels_.Run({variant_.name, moments ? "pair_moments" : "pair_verdict", count}, arguments));
    void* merge_arguments[] = {&records, &count, &whole};
    VERNIER_TRY(kernels_.Run({variant_.name, "pair_merge"}, merge_arguments));
    VERNIER_TRY(kernels_.Fetch(kRecordOffset + sizeof(PairRecord)));
    return TakeRecord(Records<PairRecord>(kernels_, 1).front(), moments);
  }

  Status TakeRecord(const PairRecord& record, bool moments) {
    DifferenceSummary& summary = out_.difference;
    summary.count = a_.count;
    summary.absolute_dtype = variant_.absolute_dtype;
    summary.relative_dtype = variant_.relative_dtype;
    summary.absolute.count = summary.relative.count = a_.count;
    summary.mismatches = record.mismatches;
    summary.first_mismatch = record.first_mismatch == kNowhere ? -1 : record.first_mismatch;
    summary.zeros_in_b = record.zeros_in_b;
    summary.worst_ratio = record.worst_ratio;
    if (!moments) {
      if (summary.mismatches == 0) summary.worst_ratio = 1;
      return {};
    }
    StreamTotals absolute(variant_.absolute_type);
    StreamTotals relative(StreamType::kFloating);
    absolute.Add(record.absolute);
    relative.Add(record.relative);
    if (absolute.overflows() || relative.overflows()) return SumsOverflow();
    summary.absolute =
        absolute.Finish(a_.count, StreamTotals::Sign::kNeverNegative, Pilot(kernels_, 0));
    summary.relative =
        relative.Finish(a_.count, StreamTotals::Sign::kNeverNegative, Pilot(kernels_, 1));
    if (summary.mismatches == 0) summary.worst_ratio = PassingRatio(summary, request_.rule);
    return {};
  }

  Status RankDifferences() {
    ValueStatistics* streams[] = {&out_.difference.absolute, &out_.difference.relative};
    const KeyType keys[] = {variant_.absolute_key, variant_.relative_key};
    std::vector<RankWalk> walks;
    for (const ValueStatistics* stream : streams) {
      walks.emplace_back(stream->nan_count > 0
                             ? std::vector<int64_t>()
                             : NeededRanks(a_.count, request_.difference_quantiles));
    }
    VERNIER_TRY(SelectRanks(kernels_,
                            {variant_.name, "pair_first_digit", "pair_digit", "pair_gather", &args_,
                             blocks_, variant_.key_bits},
                            walks));
    for (size_t i = 0; i < walks.size(); ++i) {
      if (streams[i]->nan_count > 0) {
        FillNan(*streams[i], request_.difference_quantiles.size());
      } else {
        FillRanks(*streams[i], request_.difference_quantiles, walks[i], keys[i]);
      }
    }
    return {};
  }

  Result<ValueStatistics> MeasureSide(const DeviceElements& side) {
    ValueStatistics out;
    out.count = side.count;
    if (request_.sides == StatisticsLevel::kNone) return out;
    const ValueVariant variant = ValueVariantOf(side);
    ValueArgs args{};
    args.values = reinterpret_cast<const void*>(side.data);
    args.count = side.count;
    args.type = static_cast<int32_t>(side.dtype);
    cuda::DevicePointer pilot = kernels_.results();
    cuda::DevicePointer records = kernels_.results() + kRecordOffset;
    void* pilot_arguments[] = {&args, &pilot};
    VERNIER_TRY(kernels_.Run({variant.name, "values_pilot"}, pilot_arguments));
    void* arguments[] = {&args, &pilot, &records};
    VERNIER_TRY(kernels_.Run({variant.name, "values_moments", blocks_}, arguments));
    VERNIER_TRY(kernels_.Fetch(kRecordOffset + blocks_ * sizeof(StreamRecord)));
    StreamTotals totals(variant.type);
    for (const StreamRecord& record : Records<StreamRecord>(kernels_, blocks_)) totals.Add(record);
    if (totals.overflows()) return SumsOverflow();
    out = totals.Finish(side.count, variant.sign, Pilot(kernels_, 0));
    if (request_.sides != StatisticsLevel::kRanks) return out;
    if (out.nan_count > 0) {
      FillNan(out, request_.side_quantiles.size());
      return out;
    }
    RankWalk walk(NeededRanks(side.count, request_.side_quantiles));
    VERNIER_TRY(SelectRanks(kernels_,
                            {variant.name, "values_first_digit", "values_digit", "values_gather",
                             &args, blocks_, variant.key_bits},
                            std::span(&walk, 1)));
    FillRanks(out, request_.side_quantiles, walk, variant.key);
    return out;
  }

  Status Products() {
    cuda::DevicePointer records = kernels_.results() + kRecordOffset;
    void* arguments[] = {&args_, &records};
    VERNIER_TRY(kernels_.Run({variant_.products, "pair_products", blocks_}, arguments));
    VERNIER_TRY(kernels_.Fetch(kRecordOffset + blocks_ * sizeof(ProductRecord)));
    WideSum sums[4] = {};
    double a_max = -kInfinity;
    int64_t nan_count = 0;
    for (const ProductRecord& record : Records<ProductRecord>(kernels_, blocks_)) {
      const WideSum* parts[] = {&record.dot, &record.a_squared, &record.b_squared,
                                &record.difference_squared};
      for (size_t i = 0; i < 4; ++i) Accumulate(sums[i], *parts[i]);
      a_max = std::max(a_max, record.a_max);
      nan_count += record.nan_count;
    }
    out_.products = {ValueOf(sums[0]), ValueOf(sums[1]), ValueOf(sums[2]), ValueOf(sums[3]),
                     nan_count > 0 ? kNan : a_max};
    return {};
  }

  DeviceKernels& kernels_;
  const DeviceElements& a_;
  const DeviceElements& b_;
  const MeasureRequest& request_;
  PairVariant variant_;
  PairArgs args_;
  unsigned blocks_;
  PairMeasures out_;
};

bool IsOfferedType(DType dtype) {
  const Arithmetic arithmetic = NaturalArithmetic(dtype);
  return arithmetic != Arithmetic::kComplex && arithmetic != Arithmetic::kString &&
         arithmetic != Arithmetic::kNone;
}

}  // namespace

Status CheckOffered(DType a, DType b, const MeasureRequest& request) {
  for (const DType dtype : {a, b}) {
    if (IsOfferedType(dtype)) continue;
    return Unimplemented("elements of type " + std::string(DTypeName(dtype)) +
                         " are not compared on a GPU");
  }
  const auto is_long = [](DType dtype) {
    return dtype == DType::kInt64 || dtype == DType::kUint64;
  };
  if (request.products && (is_long(a) || is_long(b))) {
    return Unimplemented("exact differences of 64-bit integers are not summed on a GPU");
  }
  if (request.ulp) return Unimplemented("distances in ULPs are not measured on a GPU");
  if (request.worst > 0) return Unimplemented("the worst elements are not listed on a GPU");
  return {};
}

Result<DeviceMeasures> DeviceMeasures::Open(int ordinal) {
  VERNIER_ASSIGN_OR_RETURN(std::unique_ptr<DeviceKernels> kernels, DeviceKernels::Open(ordinal));
  return DeviceMeasures(std::move(kernels));
}

Result<PairMeasures> DeviceMeasures::Measure(const DeviceElements& a, const DeviceElements& b,
                                             const MeasureRequest& request) {
  VERNIER_TRY(CheckOffered(a.dtype, b.dtype, request));
  if (a.count == 0 || a.count != b.count) {
    // Nothing is read: the answer, or the refusal, is that of the CPU.
    return MeasurePair({a.dtype, {}, a.count}, {b.dtype, {}, b.count}, request);
  }
  if (SuitsCodes(*kernels_, a, b)) {
    VERNIER_TRY(kernels_->WaitFor(a.ready));
    VERNIER_TRY(kernels_->WaitFor(b.ready));
    Result<PairMeasures> counted = MeasureCodes(*kernels_, a, b, request);
    if (counted.status().code() != StatusCode::kUnimplemented) return counted;
  }
  return Measurement(*kernels_, a, b, request).Run();
}

}  // namespace vernier::gpu
