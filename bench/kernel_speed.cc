// The comparison kernels alone against the speed of reading memory. Built by run_kernels.py.
//
//   kernel_speed ELEMENTS ROUNDS THREADS [WORK...]   prints lines "name value unit"
//
// WORK: float32, types, curve, logits; all of them by default; or the names of single types.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "kernels/classes/logits.h"
#include "kernels/measures/pair_measures.h"
#include "timing.h"
#include "util/threads/thread_pool.h"

namespace vernier {
namespace {

struct Bench {
  size_t count;
  int rounds;
  ThreadPool& pool;
};

// The same bytes as the two sides of a comparison, in chunks as the kernels take them.
double ReadSeconds(const Bench& bench, const std::vector<std::byte>& a,
                   const std::vector<std::byte>& b) {
  constexpr size_t kChunk = 262144;
  const size_t chunks = a.size() / kChunk;
  std::vector<uint64_t> sums(chunks);
  volatile uint64_t sink = 0;
  return BestSeconds(bench.rounds, [&] {
    bench.pool.Run(chunks, [&](size_t chunk, size_t) {
      sums[chunk] =
          SumWords(reinterpret_cast<const uint64_t*>(a.data() + chunk * kChunk), kChunk / 8) +
          SumWords(reinterpret_cast<const uint64_t*>(b.data() + chunk * kChunk), kChunk / 8);
    });
    for (const uint64_t sum : sums) sink = sink + sum;
  });
}

// Roughly normal numbers, made quickly: the sum of four uniform ones.
class Numbers {
 public:
  double Next() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += static_cast<double>((x >> (16 * i)) & 0xffff);
    return (sum / 65536 - 2) * 1.7320508;
  }

 private:
  uint64_t state_ = 1;
};

uint16_t HalfBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  const uint32_t magnitude = (bits >> 13) & 0x3ffff;
  if (magnitude < (113u << 10)) return 0;
  return static_cast<uint16_t>(((bits >> 16) & 0x8000u) | (magnitude - (112u << 10)));
}

// As quantised networks do: what does not fit is the nearest that does. Of the types that are no
// integers the low byte serves as a pattern.
int64_t Quantised(DType dtype, double value) {
  if (dtype == DType::kInt8) value = std::clamp(value, -128.0, 127.0);
  if (dtype == DType::kUint8) value = std::clamp(value, 0.0, 255.0);
  return static_cast<int64_t>(value);
}

// Bytes of type `dtype`; `noise` is added to every number.
std::vector<std::byte> MakeArray(DType dtype, size_t count, double noise) {
  const auto size = static_cast<size_t>(BitsOf(dtype)) / 8;
  std::vector<std::byte> bytes(count * size);
  Numbers numbers;
  Numbers noises;
  (void)noises.Next();
  for (size_t i = 0; i < count; ++i) {
    const double value = numbers.Next() + noise * noises.Next();
    const auto narrow = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &narrow, 4);
    const auto half = HalfBits(narrow);
    const auto brain = static_cast<uint16_t>(bits >> 16);
    const int64_t whole = Quantised(dtype, value * 40);
    const void* from = dtype == DType::kFloat32    ? static_cast<const void*>(&narrow)
                       : dtype == DType::kFloat64  ? static_cast<const void*>(&value)
                       : dtype == DType::kFloat16  ? static_cast<const void*>(&half)
                       : dtype == DType::kBFloat16 ? static_cast<const void*>(&brain)
                                                   : static_cast<const void*>(&whole);
    std::memcpy(bytes.data() + i * size, from, size);
  }
  return bytes;
}

MeasureRequest Everything() {
  MeasureRequest request;
  request.rule = {1e-5, 1e-5, false};
  request.differences = request.sides = StatisticsLevel::kRanks;
  request.difference_quantiles = {0.9, 0.95, 0.99, 0.99};
  request.side_quantiles = {0.9, 0.95, 0.99};
  return request;
}

MeasureRequest NoRanks() {
  MeasureRequest request = Everything();
  request.differences = request.sides = StatisticsLevel::kMoments;
  return request;
}

double Measure(const Bench& bench, const ElementSpan& a, const ElementSpan& b,
               const MeasureRequest& request) {
  return BestSeconds(bench.rounds, [&] {
    if (!MeasurePair(a, b, request, &bench.pool).ok()) std::exit(1);
  });
}

void Report(const std::string& name, double seconds, double elements) {
  std::printf("%s %.6g ms\n", name.c_str(), seconds * 1e3);
  std::printf("%s_per_element %.4g ns\n", name.c_str(), seconds * 1e9 / elements);
}

struct Pair {
  std::vector<std::byte> a_bytes;
  std::vector<std::byte> b_bytes;
  ElementSpan a;
  ElementSpan b;
};

Pair MakePair(DType dtype, size_t count, double noise) {
  Pair out{MakeArray(dtype, count, 0), MakeArray(dtype, count, noise), {}, {}};
  out.a = {dtype, out.a_bytes, static_cast<int64_t>(count)};
  out.b = {dtype, out.b_bytes, static_cast<int64_t>(count)};
  return out;
}

void ReportFloat32(const Bench& bench) {
  const auto n = static_cast<double>(bench.count);
  Pair pair = MakePair(DType::kFloat32, bench.count, 1e-6);
  const double bytes = 8 * n;
  const double read = ReadSeconds(bench, pair.a_bytes, pair.b_bytes);
  std::printf("read %.6g ms\n", read * 1e3);
  std::printf("read_bandwidth %.4g GB/s\n", bytes / read * 1e-9);
  Report("everything", Measure(bench, pair.a, pair.b, Everything()), n);
  Report("no_ranks", Measure(bench, pair.a, pair.b, NoRanks()), n);
  MeasureRequest verdict;
  verdict.rule = {1e-4, 1e-4, false};
  Report("verdict", Measure(bench, pair.a, pair.b, verdict), n);
  verdict.rule = {1e-7, 1e-7, false};
  Report("verdict_of_many_mismatches", Measure(bench, pair.a, pair.b, verdict), n);
  Report("everything_of_equal", Measure(bench, pair.a, pair.a, Everything()), n);
  MeasureRequest all = Everything();
  all.products = all.ulp = true;
  all.worst = 10;
  Report("everything_and_metrics", Measure(bench, pair.a, pair.b, all), n);
  MeasureRequest products;
  products.products = true;
  Report("products", Measure(bench, pair.a, pair.b, products), n);
  auto* values = reinterpret_cast<float*>(pair.a_bytes.data());
  std::sort(values, values + bench.count);
  Report("everything_of_sorted", Measure(bench, pair.a, pair.b, Everything()), n);
}

constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat16,      DType::kBFloat16, DType::kInt8,
                            DType::kUint8,   DType::kFloat8E4M3FN, DType::kBool,     DType::kInt16,
                            DType::kInt32,   DType::kInt64,        DType::kFloat64};

void ReportType(const Bench& bench, DType dtype) {
  const Pair pair = MakePair(dtype, bench.count, 1e-2);
  const std::string name(DTypeName(dtype));
  const auto n = static_cast<double>(bench.count);
  Report(name, Measure(bench, pair.a, pair.b, Everything()), n);
  Report(name + "_no_ranks", Measure(bench, pair.a, pair.b, NoRanks()), n);
  Report(name + "_verdict", Measure(bench, pair.a, pair.b, {.rule = {8, 8, false}}), n);
}

// A line of /proc/self/status, in MiB; 0 where there is none.
double StatusMebibytes(const char* key) {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.rfind(key, 0) == 0)
      return std::strtod(line.c_str() + std::strlen(key), nullptr) / 1024;
  }
  return 0;
}

// How much memory `work` takes beside the arrays.
template <typename Work>
double ExtraMebibytes(Work work) {
  std::ofstream("/proc/self/clear_refs") << "5";  // resets the high-water mark
  const double before = StatusMebibytes("VmRSS:");
  work();
  return std::max(0.0, StatusMebibytes("VmHWM:") - before);
}

// From 1 K elements by factors of 4, up to ELEMENTS.
void ReportCurve(const Bench& bench) {
  std::vector<size_t> counts;
  for (size_t count = 1024; count < bench.count; count *= 4) counts.push_back(count);
  counts.push_back(bench.count);
  for (const size_t count : counts) {
    const Pair pair = MakePair(DType::kFloat32, count, 1e-6);
    const int repeats = static_cast<int>(std::max<size_t>(1, (size_t{1} << 20) / count));
    Bench sized{count, bench.rounds * repeats, bench.pool};
    const std::string name = "curve_" + std::to_string(count);
    std::printf("%s_memory %.1f MiB\n", name.c_str(), ExtraMebibytes([&] {
                  (void)MeasurePair(pair.a, pair.b, Everything(), &bench.pool);
                }));
    const auto n = static_cast<double>(count);
    Report(name, Measure(sized, pair.a, pair.b, Everything()), n);
    Report(name + "_verdict", Measure(sized, pair.a, pair.b, {.rule = {1e-4, 1e-4, false}}), n);
  }
}

// A prompt's logits over a vocabulary. Other counts than ELEMENTS: they are those of the goal.
void ReportLogits(const Bench& bench) {
  constexpr LogitRows kRows{512, 49152, 1};
  const Pair pair =
      MakePair(DType::kFloat32, static_cast<size_t>(kRows.count() * kRows.classes), 1e-3);
  const auto measure = [&] { (void)MeasureLogits(pair.a, pair.b, kRows, 5, &bench.pool); };
  std::printf("logits_memory %.3g MiB\n", ExtraMebibytes(measure));
  std::printf("logits_three_rows %.3g MiB\n",
              3 * 4 * static_cast<double>(kRows.classes) / (1 << 20));
  Report("logits", BestSeconds(bench.rounds, measure), static_cast<double>(pair.a.count));
}

}  // namespace
}  // namespace vernier

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  vernier::ThreadPool pool(std::strtoul(argv[3], nullptr, 10));
  const vernier::Bench bench{std::strtoul(argv[1], nullptr, 10), std::atoi(argv[2]), pool};
  const auto wanted = [&](const char* work) {
    return argc == 4 || std::any_of(argv + 4, argv + argc, [work](const char* word) {
             return std::strcmp(word, work) == 0;
           });
  };
  if (wanted("float32")) vernier::ReportFloat32(bench);
  for (const vernier::DType dtype : vernier::kTypes) {
    const bool named =
        wanted(std::string(vernier::DTypeName(dtype)).c_str()) && dtype != vernier::DType::kFloat32;
    if (wanted("types") || named) vernier::ReportType(bench, dtype);
  }
  if (wanted("curve")) vernier::ReportCurve(bench);
  if (wanted("logits")) vernier::ReportLogits(bench);
  return 0;
}
