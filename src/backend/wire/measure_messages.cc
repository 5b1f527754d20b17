#include "backend/wire/measure_messages.h"
#include "kernels/measures/pair_measures.h"

namespace vernier {
namespace {

void EncodeNumbers(const std::vector<double>& numbers, MessageWriter& out) {
  out.Number<uint64_t>(numbers.size());
  for (const double number : numbers) out.Number(number);
}

std::vector<double> DecodeNumbers(MessageReader& in) {
  std::vector<double> numbers(in.Count(sizeof(double)));
  for (double& number : numbers) number = in.Number<double>();
  return numbers;
}

void EncodeType(DType dtype, MessageWriter& out) { out.Number(static_cast<uint8_t>(dtype)); }
DType DecodeType(MessageReader& in) {
  return DTypeFromOnnx(in.Number<uint8_t>()).value_or(DType::kUndefined);
}

StatisticsLevel DecodeLevel(MessageReader& in) {
  const auto level = in.Number<uint8_t>();
  if (level > static_cast<uint8_t>(StatisticsLevel::kRanks)) in.Fail();
  return in.failed() ? StatisticsLevel::kNone : static_cast<StatisticsLevel>(level);
}

// Each visits the plain numbers of a struct, so that one list serves both directions.
template <typename Statistics, typename Visit>
void VisitStatistics(Statistics& s, Visit visit) {
  visit(s.count), visit(s.nan_count), visit(s.infinite_count);
  visit(s.mean), visit(s.variance), visit(s.std_dev), visit(s.median);
  visit(s.min), visit(s.max), visit(s.argmin), visit(s.argmax);
  visit(s.first_nan), visit(s.first_infinite), visit(s.average_magnitude);
}

template <typename Summary, typename Visit>
void VisitSummary(Summary& s, Visit visit) {
  visit(s.count), visit(s.mismatches), visit(s.first_mismatch), visit(s.zeros_in_b);
  visit(s.worst_ratio);
}

template <typename Measures, typename Visit>
void VisitSums(Measures& m, Visit visit) {
  visit(m.products.dot), visit(m.products.a_squared), visit(m.products.b_squared);
  visit(m.products.difference_squared), visit(m.products.a_max);
  visit(m.ulp.max), visit(m.ulp.place_of_max), visit(m.ulp.measured), visit(m.ulp.different);
}

template <typename Element, typename Visit>
void VisitWorst(Element& e, Visit visit) {
  visit(e.place), visit(e.a), visit(e.b), visit(e.absolute), visit(e.relative), visit(e.ratio);
}

void EncodeStatistics(const ValueStatistics& statistics, MessageWriter& out) {
  VisitStatistics(statistics, [&](auto number) { out.Number(number); });
  EncodeNumbers(statistics.quantiles, out);
}

ValueStatistics DecodeStatistics(MessageReader& in) {
  ValueStatistics out;
  VisitStatistics(out, [&]<typename T>(T& number) { number = in.Number<T>(); });
  out.quantiles = DecodeNumbers(in);
  return out;
}

}  // namespace

void EncodeRequest(const MeasureRequest& request, MessageWriter& out) {
  out.Number(request.rule.atol);
  out.Number(request.rule.rtol);
  for (const bool flag : {request.rule.infinities_equal, request.products, request.ulp}) {
    out.Number(static_cast<uint8_t>(flag));
  }
  out.Number(static_cast<uint8_t>(request.differences));
  out.Number(static_cast<uint8_t>(request.sides));
  EncodeNumbers(request.difference_quantiles, out);
  EncodeNumbers(request.side_quantiles, out);
  out.Number<uint64_t>(request.worst);
}

MeasureRequest DecodeRequest(MessageReader& in) {
  MeasureRequest request;
  request.rule.atol = in.Number<double>();
  request.rule.rtol = in.Number<double>();
  for (bool* flag : {&request.rule.infinities_equal, &request.products, &request.ulp}) {
    *flag = in.Number<uint8_t>() != 0;
  }
  request.differences = DecodeLevel(in);
  request.sides = DecodeLevel(in);
  request.difference_quantiles = DecodeNumbers(in);
  request.side_quantiles = DecodeNumbers(in);
  request.worst = static_cast<size_t>(in.Number<uint64_t>());
  return request;
}

void EncodeMeasures(const PairMeasures& measures, MessageWriter& out) {
  const auto number = [&](auto value) { out.Number(value); };
  VisitSummary(measures.difference, number);
  EncodeType(measures.difference.absolute_dtype, out);
  EncodeType(measures.difference.relative_dtype, out);
  for (const ValueStatistics* statistics :
       {&measures.difference.absolute, &measures.difference.relative, &measures.a, &measures.b}) {
    EncodeStatistics(*statistics, out);
  }
  VisitSums(measures, number);
  out.Number(static_cast<uint8_t>(measures.ulp.applies));
  out.Number<uint64_t>(measures.worst.size());
  for (const WorstElement& element : measures.worst) VisitWorst(element, number);
}

PairMeasures DecodeMeasures(MessageReader& in) {
  PairMeasures out;
  const auto number = [&]<typename T>(T& value) { value = in.Number<T>(); };
  VisitSummary(out.difference, number);
  out.difference.absolute_dtype = DecodeType(in);
  out.difference.relative_dtype = DecodeType(in);
  for (ValueStatistics* statistics :
       {&out.difference.absolute, &out.difference.relative, &out.a, &out.b}) {
    *statistics = DecodeStatistics(in);
  }
  VisitSums(out, number);
  out.ulp.applies = in.Number<uint8_t>() != 0;
  out.worst.resize(in.Count(6 * sizeof(double)));
  for (WorstElement& element : out.worst) VisitWorst(element, number);
  return out;
}

}  // namespace vernier
