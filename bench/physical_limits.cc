// How fast memory can be read here, and how near the comparison kernels come to that.
//
// Prints lines "name value unit". Built by run_bench.py against the libraries of a build folder.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "compare/functions/comparison.h"
#include "kernels/measures/pair_measures.h"
#include "timing.h"
#include "vernier/tensor.h"

namespace vernier {
namespace {

constexpr double kQuantiles[] = {0.9, 0.95, 0.99};

double ReadSeconds(const std::vector<uint64_t>& memory, size_t thread_count, int rounds) {
  volatile uint64_t sink = 0;
  return BestSeconds(rounds, [&] {
    std::vector<std::thread> threads;
    std::vector<uint64_t> sums(thread_count * 8);
    const size_t share = memory.size() / thread_count;
    for (size_t t = 0; t < thread_count; ++t) {
      threads.emplace_back([&, t] { sums[t * 8] = SumWords(memory.data() + t * share, share); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const uint64_t sum : sums) sink = sink + sum;
  });
}

template <typename T>
Tensor MakeTensor(DType dtype, const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span<const T>(values));
  Result<Tensor> tensor = Tensor::Copy(dtype, {static_cast<int64_t>(values.size())}, bytes);
  if (!tensor.ok()) std::exit(1);
  return *tensor;
}

void ReportDifference(const char* name, const Tensor& a, const Tensor& b, int rounds) {
  MeasureRequest request{.rule = {.atol = 1e-5, .rtol = 1e-5}};
  request.differences = StatisticsLevel::kRanks;
  request.difference_quantiles.assign(std::begin(kQuantiles), std::end(kQuantiles));
  const double seconds = BestSeconds(rounds, [&] {
    if (!MeasurePair(Elements(a), Elements(b), request).ok()) std::exit(1);
  });
  const auto pairs = static_cast<double>(a.element_count());
  std::printf("%s %.4g pairs/s\n", name, pairs / seconds);
  std::printf("%s_bytes %.4g bytes/s\n", name,
              static_cast<double>(a.bytes().size() + b.bytes().size()) / seconds);
}

template <typename T>
void ReportType(const char* name, DType dtype, size_t count, int rounds) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<T> a(count);
  std::vector<T> b(count);
  for (size_t i = 0; i < count; ++i) {
    const double value = normal(random);
    a[i] = static_cast<T>(value * (std::is_integral_v<T> ? 1000 : 1));
    b[i] = static_cast<T>(a[i] + static_cast<T>(1e-6 * value));
  }
  const Tensor first = MakeTensor(dtype, a);
  ReportDifference(name, first, MakeTensor(dtype, b), rounds);
  const double seconds = BestSeconds(
      rounds, [&] { (void)MeasureValues(Elements(first), StatisticsLevel::kRanks, kQuantiles); });
  std::printf("%s_statistics %.4g elements/s\n", name, static_cast<double>(count) / seconds);
}

}  // namespace
}  // namespace vernier

int main(int argc, char** argv) {
  const size_t mebipairs = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 16;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  const size_t count = mebipairs << 20;
  {
    const std::vector<uint64_t> memory(count, 1);
    const double bytes = static_cast<double>(memory.size() * sizeof(uint64_t));
    const size_t cores = std::max(1u, std::thread::hardware_concurrency());
    std::printf("read_1_thread %.4g bytes/s\n", bytes / vernier::ReadSeconds(memory, 1, rounds));
    std::printf("read_all_threads %.4g bytes/s\n",
                bytes / vernier::ReadSeconds(memory, cores, rounds));
  }
  vernier::ReportType<float>("float32", vernier::DType::kFloat32, count, rounds);
  vernier::ReportType<float>("float32_layer", vernier::DType::kFloat32, 50176, rounds * 20);
  vernier::ReportType<float>("float32_small", vernier::DType::kFloat32, 40, rounds * 2000);
  vernier::ReportType<double>("float64", vernier::DType::kFloat64, count / 2, rounds);
  vernier::ReportType<int32_t>("int32", vernier::DType::kInt32, count / 2, rounds);
  return 0;
}
