// Compares the measures of a CUDA device with the CPU's, and times both. Needs a GPU: no ctest.
//
//   gpu_check check          every pair of types, sizes and special values; exits 1 at a difference
//   gpu_check bench [MiB]    milliseconds and bandwidth, beside a copy within the device's memory
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "gpu/device_measures.h"
#include "kernels/measures/pair_measures.h"
#include "util/threads/thread_pool.h"

namespace vernier::gpu {
namespace {

class DeviceArray {
 public:
  DeviceArray(DeviceMeasures& device, DType dtype, const std::vector<std::byte>& bytes,
              size_t offset = 0)
      : dtype_(dtype) {
    auto memory = cuda::DeviceMemory::Allocate(device.kernels().context(), bytes.size() + offset);
    if (!memory.ok()) Die(memory.status());
    memory_ = *memory;
    pointer_ = memory_->pointer() + offset;
    const cuda::CurrentContext current(*device.kernels().context());
    const cuda::Driver& driver = device.kernels().context()->driver();
    Upload(driver, pointer_, bytes);
  }
  DeviceElements Elements(int64_t count) const { return {dtype_, pointer_, count, nullptr}; }

  // The copy may return when the bytes have left the host, not when they have arrived.
  static void Upload(const cuda::Driver& driver, cuda::DevicePointer to,
                     std::span<const std::byte> bytes) {
    Status copied = driver.Check(driver.MemcpyHtoD(to, bytes.data(), bytes.size()), "copying");
    if (copied.ok()) copied = driver.Check(driver.StreamSynchronize(nullptr), "waiting");
    if (!copied.ok()) Die(copied);
  }

  [[noreturn]] static void Die(const Status& status) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    std::exit(2);
  }

 private:
  DType dtype_;
  std::shared_ptr<cuda::DeviceMemory> memory_;
  cuda::DevicePointer pointer_ = 0;
};

// ------------------------------------------------------------------------------------------ check

constexpr DType kTypes[] = {
    DType::kFloat32,      DType::kFloat64,        DType::kFloat16,    DType::kBFloat16,
    DType::kFloat8E4M3FN, DType::kFloat8E4M3FNUZ, DType::kFloat8E5M2, DType::kFloat8E5M2FNUZ,
    DType::kFloat4E2M1,   DType::kBool,           DType::kInt8,       DType::kUint8,
    DType::kInt16,        DType::kUint16,         DType::kInt32,      DType::kUint32,
    DType::kInt64,        DType::kUint64,         DType::kInt4,       DType::kUint4};

enum class Flavour { kBits, kNear, kEqual, kConstant, kInfinite };

float ToFloat(double value) { return static_cast<float>(value); }

// Random numbers of any type; for floats, Gaussian or any bits at all, NaN and infinities included.
std::vector<std::byte> MakeBytes(DType dtype, int64_t count, Flavour flavour,
                                 std::mt19937_64& random) {
  std::vector<std::byte> bytes(*ByteSize(dtype, static_cast<uint64_t>(count)) + 8);
  std::normal_distribution<double> normal(0.25, 2);
  const auto store = [&](size_t place, auto value) {
    std::memcpy(bytes.data() + place * sizeof(value), &value, sizeof(value));
  };
  if (flavour == Flavour::kBits || BitsOf(dtype) <= 8) {
    for (std::byte& byte : bytes) {
      byte = static_cast<std::byte>(flavour == Flavour::kConstant ? 0x32 : random());
    }
    if (dtype == DType::kBool) {
      for (std::byte& byte : bytes) byte &= std::byte{1};
    }
  } else {
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      double value = flavour == Flavour::kConstant ? 1.5 : normal(random);
      if (flavour == Flavour::kInfinite) value = std::numeric_limits<double>::infinity();
      if (i % 97 == 3 && flavour == Flavour::kNear) value = i % 2 == 0 ? 0.0 : -0.0;
      if (dtype == DType::kFloat32) {
        store(i, ToFloat(value));
      } else if (dtype == DType::kFloat64) {
        store(i, value);
      } else if (dtype == DType::kBFloat16) {
        store(i, static_cast<uint16_t>(std::bit_cast<uint32_t>(ToFloat(value)) >> 16));
      } else if (dtype == DType::kFloat16) {
        const auto bits = static_cast<uint16_t>(random() & 0xbfffu);
        store(i, flavour == Flavour::kConstant ? uint16_t{0x3e00} : bits);
      } else {
        for (int k = 0; k < BitsOf(dtype) / 8; ++k) {
          bytes[i * static_cast<size_t>(BitsOf(dtype) / 8) + static_cast<size_t>(k)] =
              static_cast<std::byte>(flavour == Flavour::kConstant ? k
                                                                   : static_cast<int>(random()));
        }
      }
    }
  }
  bytes.resize(*ByteSize(dtype, static_cast<uint64_t>(count)));
  return bytes;
}

// B is A with some elements moved by a little.
std::vector<std::byte> Disturb(std::vector<std::byte> bytes, DType dtype, std::mt19937_64& random) {
  const size_t size = std::max<size_t>(1, static_cast<size_t>(BitsOf(dtype)) / 8);
  for (size_t i = 0; i + size <= bytes.size(); i += size) {
    // Zeros stay: what rectifiers leave.
    const bool zero = std::all_of(bytes.begin() + static_cast<ptrdiff_t>(i),
                                  bytes.begin() + static_cast<ptrdiff_t>(i + size - 1),
                                  [](std::byte byte) { return byte == std::byte{0}; }) &&
                      (bytes[i + size - 1] & std::byte{0x7f}) == std::byte{0};
    if (random() % 5 == 0 && dtype != DType::kBool && !(zero && Kind(dtype) == DTypeKind::kFloat)) {
      bytes[i] ^= static_cast<std::byte>(random() & 7);
    }
  }
  return bytes;
}

struct Case {
  std::string name;
  int failures = 0;

  void Same(const char* what, double gpu, double cpu) {
    if (std::bit_cast<uint64_t>(gpu) == std::bit_cast<uint64_t>(cpu)) return;
    if (std::isnan(gpu) && std::isnan(cpu)) return;
    Fail(what, gpu, cpu);
  }
  void SameCount(const char* what, int64_t gpu, int64_t cpu) {
    if (gpu != cpu) Fail(what, static_cast<double>(gpu), static_cast<double>(cpu));
  }
  // `scale`: what the sum of magnitudes is to the sum.
  void Near(const char* what, double gpu, double cpu, double scale, double bound = 1e-12) {
    if (std::isnan(gpu) && std::isnan(cpu)) return;
    if (gpu == cpu || std::fabs(gpu - cpu) <= bound * std::fabs(scale)) return;
    Fail(what, gpu, cpu);
  }
  void Fail(const char* what, double gpu, double cpu) {
    if (++failures > 6) return;
    std::printf("DIFFERENT %s: %s: GPU %.17g, CPU %.17g\n", name.c_str(), what, gpu, cpu);
  }

  void Statistics(const std::string& stream, const ValueStatistics& gpu,
                  const ValueStatistics& cpu) {
    const std::string old = name;
    name += " " + stream;
    SameCount("count", gpu.count, cpu.count);
    SameCount("NaN", gpu.nan_count, cpu.nan_count);
    SameCount("infinite", gpu.infinite_count, cpu.infinite_count);
    SameCount("argmin", gpu.argmin, cpu.argmin);
    SameCount("argmax", gpu.argmax, cpu.argmax);
    SameCount("first NaN", gpu.first_nan, cpu.first_nan);
    SameCount("first infinite", gpu.first_infinite, cpu.first_infinite);
    Same("min", gpu.min, cpu.min);
    Same("max", gpu.max, cpu.max);
    Same("median", gpu.median, cpu.median);
    SameCount("quantiles", static_cast<int64_t>(gpu.quantiles.size()),
              static_cast<int64_t>(cpu.quantiles.size()));
    for (size_t i = 0; i < std::min(gpu.quantiles.size(), cpu.quantiles.size()); ++i) {
      Same("quantile", gpu.quantiles[i], cpu.quantiles[i]);
    }
    Near("mean", gpu.mean, cpu.mean, cpu.average_magnitude);
    Near("average magnitude", gpu.average_magnitude, cpu.average_magnitude, cpu.average_magnitude);
    // A spread below the last digit of the values is nothing but rounding.
    Near("variance", gpu.variance, cpu.variance,
         cpu.variance + 1e-15 * cpu.average_magnitude * cpu.average_magnitude, 1e-9);
    name = old;
  }

  void Measures(const PairMeasures& gpu, const PairMeasures& cpu, StatisticsLevel levels) {
    const DifferenceSummary& x = gpu.difference;
    const DifferenceSummary& y = cpu.difference;
    SameCount("mismatches", x.mismatches, y.mismatches);
    SameCount("first mismatch", x.first_mismatch, y.first_mismatch);
    SameCount("zeros in B", x.zeros_in_b, y.zeros_in_b);
    // Without the differences' statistics all that is known of a match is that this is at most 1.
    if (levels != StatisticsLevel::kNone || y.mismatches > 0) {
      Same("worst ratio", x.worst_ratio, y.worst_ratio);
    } else if (!(x.worst_ratio <= 1)) {
      Fail("worst ratio", x.worst_ratio, y.worst_ratio);
    }
    SameCount("absolute dtype", static_cast<int>(x.absolute_dtype),
              static_cast<int>(y.absolute_dtype));
    SameCount("relative dtype", static_cast<int>(x.relative_dtype),
              static_cast<int>(y.relative_dtype));
    Statistics("absolute", x.absolute, y.absolute);
    Statistics("relative", x.relative, y.relative);
    Statistics("a", gpu.a, cpu.a);
    Statistics("b", gpu.b, cpu.b);
    const ProductSums &p = gpu.products, &q = cpu.products;
    const double unit = std::ldexp(1.0, q.exponent), square = unit * unit;  // the CPU divided by it
    Near("a squared", p.a_squared, q.a_squared * square, q.a_squared * square);
    Near("b squared", p.b_squared, q.b_squared * square, q.b_squared * square);
    const double d = q.difference_squared * square;
    Near("difference squared", p.difference_squared, d, d);
    Near("dot", p.dot, q.dot * square, std::sqrt(q.a_squared) * std::sqrt(q.b_squared) * square);
    Same("largest of A", p.a_max, q.a_max * unit);
  }
};

MeasureRequest FullRequest(double atol, double rtol, bool infinities_equal) {
  MeasureRequest request;
  request.rule = {atol, rtol, infinities_equal};
  request.differences = request.sides = StatisticsLevel::kRanks;
  request.difference_quantiles = {0.9, 0.95, 0.99, 0.37, 0, 1, 0.001};
  request.side_quantiles = {0.9, 0.25, 0.99};
  request.products = true;
  return request;
}

struct Checker {
  DeviceMeasures& device;
  std::mt19937_64 random{20};
  int cases = 0;
  int failed = 0;
  int left_to_the_cpu = 0;  ///< sums of numbers near the largest double

  void Compare(std::string name, const DeviceElements& da, const DeviceElements& db,
               const ElementSpan& a, const ElementSpan& b, const MeasureRequest& request) {
    Case one{std::move(name)};
    const Result<PairMeasures> gpu = device.Measure(da, db, request);
    const Result<PairMeasures> cpu = MeasurePair(a, b, request);
    ++cases;
    if (cpu.ok() && gpu.status().code() == StatusCode::kUnimplemented) {
      ++left_to_the_cpu;
      return;
    }
    if (!gpu.ok() || !cpu.ok()) {
      std::printf("FAILED %s: %s%s\n", one.name.c_str(), gpu.status().message().c_str(),
                  cpu.status().message().c_str());
      ++failed;
      return;
    }
    one.Measures(*gpu, *cpu, request.differences);
    failed += one.failures > 0 ? 1 : 0;
  }

  void Pair(DType a_type, DType b_type, int64_t count, Flavour flavour, size_t offset = 0) {
    const std::vector<std::byte> a = MakeBytes(a_type, count, flavour, random);
    const bool near = a_type == b_type && flavour != Flavour::kBits;
    const std::vector<std::byte> b = flavour == Flavour::kEqual && a_type == b_type ? a
                                     : near ? Disturb(a, a_type, random)
                                            : MakeBytes(b_type, count, flavour, random);
    const DeviceArray da(device, a_type, a, offset);
    const DeviceArray db(device, b_type, b, offset);
    for (const bool infinities_equal : {false, true}) {
      for (const auto& [atol, rtol] : {std::pair(1e-5, 1e-5), std::pair(0.0, 0.0),
                                       std::pair(3.0, std::nan("")), std::pair(1e30, -1.0)}) {
        const std::string name =
            std::string(DTypeName(a_type)) + "/" + std::string(DTypeName(b_type)) + " x " +
            std::to_string(count) + " flavour " + std::to_string(static_cast<int>(flavour)) +
            " atol " + std::to_string(atol) + (infinities_equal ? " inf=inf" : "");
        Compare(name, da.Elements(count), db.Elements(count), {a_type, a, count},
                {b_type, b, count}, FullRequest(atol, rtol, infinities_equal));
      }
    }
  }

  // More of each pair than a block's counters hold.
  void FewCodes() {
    constexpr int64_t kCount = 80'000'000;
    std::vector<std::byte> bytes(kCount);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() % 16 * 16 + 3);
    const ElementSpan host{DType::kInt8, bytes, kCount};
    const DeviceArray device_bytes(device, DType::kInt8, bytes);
    const DeviceElements elements = device_bytes.Elements(kCount);
    Compare("few codes", elements, elements, host, host, FullRequest(0, 0, false));
  }

  // Each kind of request alone gives the same bits as all at once.
  void Parts() {
    const std::vector<std::byte> a = MakeBytes(DType::kFloat32, 100'003, Flavour::kNear, random);
    const std::vector<std::byte> b = Disturb(a, DType::kFloat32, random);
    const DeviceArray da(device, DType::kFloat32, a);
    const DeviceArray db(device, DType::kFloat32, b);
    for (const StatisticsLevel level : {StatisticsLevel::kMoments, StatisticsLevel::kRanks}) {
      MeasureRequest request = FullRequest(1e-5, 1e-5, false);
      request.differences = level;
      request.sides = level;
      Compare("level " + std::to_string(static_cast<int>(level)), da.Elements(100'003),
              db.Elements(100'003), {DType::kFloat32, a, 100'003}, {DType::kFloat32, b, 100'003},
              request);
    }
    MeasureRequest verdict;
    verdict.rule = {1e-5, 1e-5, false};
    Compare("verdict", da.Elements(100'003), db.Elements(100'003), {DType::kFloat32, a, 100'003},
            {DType::kFloat32, b, 100'003}, verdict);
  }

  void Repeats() {
    const std::vector<std::byte> a = MakeBytes(DType::kFloat32, 3'000'001, Flavour::kNear, random);
    const std::vector<std::byte> b = Disturb(a, DType::kFloat32, random);
    const DeviceArray da(device, DType::kFloat32, a);
    const DeviceArray db(device, DType::kFloat32, b);
    const MeasureRequest request = FullRequest(1e-5, 1e-5, false);
    const auto first = device.Measure(da.Elements(3'000'001), db.Elements(3'000'001), request);
    for (int i = 0; first.ok() && i < 5; ++i) {
      const auto again = device.Measure(da.Elements(3'000'001), db.Elements(3'000'001), request);
      Case one{"repeat"};
      one.Same("mean", again->difference.absolute.mean, first->difference.absolute.mean);
      one.Same("variance", again->a.variance, first->a.variance);
      one.Same("dot", again->products.dot, first->products.dot);
      ++cases;
      failed += one.failures > 0 ? 1 : 0;
    }
  }
};

int RunChecks(DeviceMeasures& device) {
  Checker checker{device};
  for (const DType a : kTypes) {
    for (const DType b : kTypes) checker.Pair(a, b, a == b ? 20'011 : 3'001, Flavour::kBits);
    for (const Flavour flavour :
         {Flavour::kNear, Flavour::kEqual, Flavour::kConstant, Flavour::kInfinite}) {
      checker.Pair(a, a, 50'021, flavour);
    }
    for (const int64_t count : {1, 2, 3, 7, 8, 31, 257, 1024}) {
      checker.Pair(a, a, count, Flavour::kNear);
    }
    checker.Pair(a, a, 0, Flavour::kNear);
    checker.Pair(a, a, 9'999, Flavour::kNear, 8);  // not aligned to 16 bytes
  }
  for (const DType type : {DType::kFloat32, DType::kFloat16, DType::kFloat64, DType::kInt64}) {
    checker.Pair(type, type, 5'000'003, Flavour::kNear);
  }
  // Long enough for pairs of codes to be counted.
  for (const DType a : kTypes) {
    if (BitsOf(a) > 8) continue;
    for (const Flavour flavour :
         {Flavour::kBits, Flavour::kNear, Flavour::kEqual, Flavour::kConstant}) {
      checker.Pair(a, a, 3'000'019, flavour);
    }
    for (const DType b : kTypes) {
      if (BitsOf(b) == BitsOf(a)) checker.Pair(a, b, 150'001, Flavour::kBits);
    }
  }
  checker.FewCodes();
  checker.Parts();
  checker.Repeats();
  std::printf("%d cases, %d left to the CPU, %d with differences\n", checker.cases,
              checker.left_to_the_cpu, checker.failed);
  return checker.failed == 0 && checker.cases > 0 ? 0 : 1;
}

// ------------------------------------------------------------------------------------------ bench

double MedianMs(int repeats, const std::function<void()>& work) {
  work();
  work();
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    times.push_back(took.count());
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// Random data of one type, made on the host in a part and repeated on the device.
class BenchArray {
 public:
  BenchArray(DeviceMeasures& device, DType dtype, size_t bytes, std::vector<std::byte> part)
      : dtype_(dtype), bytes_(bytes) {
    auto memory = cuda::DeviceMemory::Allocate(device.kernels().context(), bytes);
    if (!memory.ok()) DeviceArray::Die(memory.status());
    memory_ = *memory;
    const cuda::CurrentContext current(*device.kernels().context());
    const cuda::Driver& driver = device.kernels().context()->driver();
    for (size_t done = 0; done < bytes; done += part.size()) {
      const size_t n = std::min(part.size(), bytes - done);
      DeviceArray::Upload(driver, memory_->pointer() + done, std::span(part).first(n));
    }
  }
  DeviceElements Elements() const {
    return {dtype_, memory_->pointer(), static_cast<int64_t>(bytes_ * 8) / BitsOf(dtype_), nullptr};
  }
  cuda::DevicePointer pointer() const { return memory_->pointer(); }

 private:
  DType dtype_;
  size_t bytes_;
  std::shared_ptr<cuda::DeviceMemory> memory_;
};

// Bytes a second within the device's memory, read and written both counted.
double CopyBandwidth(DeviceMeasures& device, const BenchArray& from, const BenchArray& to,
                     size_t bytes) {
  const cuda::CurrentContext current(*device.kernels().context());
  const cuda::Driver& driver = device.kernels().context()->driver();
  cuda::Event start = nullptr;
  cuda::Event end = nullptr;
  (void)driver.EventCreate(&start, cuda::kEventDefault);
  (void)driver.EventCreate(&end, cuda::kEventDefault);
  std::vector<double> times;
  for (int i = 0; i < 12; ++i) {
    const cuda::Stream stream = device.kernels().stream();
    (void)driver.EventRecord(start, stream);
    (void)driver.MemcpyDtoDAsync(to.pointer(), from.pointer(), bytes, stream);
    (void)driver.EventRecord(end, stream);
    (void)driver.EventSynchronize(end);
    float milliseconds = 0;
    (void)driver.EventElapsedTime(&milliseconds, start, end);
    if (i >= 2) times.push_back(static_cast<double>(milliseconds));
  }
  (void)driver.EventDestroy(start);
  (void)driver.EventDestroy(end);
  std::sort(times.begin(), times.end());
  return 2 * static_cast<double>(bytes) / (times[times.size() / 2] * 1e-3);
}

struct BenchRequest {
  const char* name;
  StatisticsLevel differences;
  StatisticsLevel sides;
  bool products;
  double atol;
};
constexpr BenchRequest kBenchRequests[] = {
    {"verdict, all pass", StatisticsLevel::kNone, StatisticsLevel::kNone, false, 1},
    {"verdict, a fifth fails", StatisticsLevel::kNone, StatisticsLevel::kNone, false, 0},
    {"moments, extrema, verdict", StatisticsLevel::kMoments, StatisticsLevel::kNone, false, 1},
    {"the same, a fifth fails", StatisticsLevel::kMoments, StatisticsLevel::kNone, false, 0},
    {"and exact ranks", StatisticsLevel::kRanks, StatisticsLevel::kNone, false, 1},
    {"and both sides' moments", StatisticsLevel::kRanks, StatisticsLevel::kMoments, false, 1},
    {"everything", StatisticsLevel::kRanks, StatisticsLevel::kRanks, true, 1},
};

void BenchType(DeviceMeasures& device, DType dtype, size_t bytes, bool equal) {
  std::mt19937_64 random(5);
  // Not in step with what the threads of a grid see, which would be the same all the time.
  const int64_t part = static_cast<int64_t>(std::min<size_t>(bytes, 8'000'000) * 8) / BitsOf(dtype);
  std::vector<std::byte> a_bytes = MakeBytes(dtype, part, Flavour::kNear, random);
  std::vector<std::byte> b_bytes = equal ? a_bytes : Disturb(a_bytes, dtype, random);
  const BenchArray a(device, dtype, bytes, std::move(a_bytes));
  const BenchArray b(device, dtype, bytes, std::move(b_bytes));
  BenchArray target(device, dtype, bytes, std::vector<std::byte>(size_t{64} << 20));
  const double copy = CopyBandwidth(device, a, target, bytes);
  std::printf("%s%s, 2 x %zu MiB; a copy moves %.0f GB/s\n", std::string(DTypeName(dtype)).c_str(),
              equal ? ", equal" : "", bytes >> 20, copy * 1e-9);
  for (const BenchRequest& row : kBenchRequests) {
    MeasureRequest request;
    // Differences of integers are up to 7.
    request.rule = {Kind(dtype) == DTypeKind::kFloat ? row.atol : 8 * row.atol, 0, false};
    request.differences = row.differences;
    request.sides = row.sides;
    request.difference_quantiles = {0.9, 0.95, 0.99};
    request.side_quantiles = {0.9, 0.95, 0.99};
    request.products = row.products;
    const double ms = MedianMs(9, [&] {
      const Result<PairMeasures> result = device.Measure(a.Elements(), b.Elements(), request);
      if (!result.ok()) DeviceArray::Die(result.status());
    });
    const double rate = 2 * static_cast<double>(bytes) / (ms * 1e-3);
    std::printf("  %-28s %8.3f ms %7.0f GB/s of input, %3.0f %% of the copy\n", row.name, ms,
                rate * 1e-9, 100 * rate / copy);
  }
}

int RunBench(DeviceMeasures& device, size_t mebibytes) {
  for (const DType dtype :
       {DType::kFloat32, DType::kFloat16, DType::kBFloat16, DType::kFloat64, DType::kInt64,
        DType::kUint64, DType::kInt32, DType::kUint32, DType::kInt16, DType::kUint16, DType::kInt8,
        DType::kUint8, DType::kFloat8E4M3FN, DType::kFloat8E5M2, DType::kBool, DType::kInt4}) {
    BenchType(device, dtype, mebibytes << 20, false);
  }
  BenchType(device, DType::kFloat32, mebibytes << 20, true);
  BenchType(device, DType::kFloat32, size_t{4} << 20, false);
  BenchType(device, DType::kFloat32, size_t{64} << 10, false);
  return 0;
}

int Main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode != "check" && mode != "bench") {
    std::fprintf(stderr, "usage: gpu_check check | bench [MiB]\n");
    return 2;
  }
  Result<DeviceMeasures> device = DeviceMeasures::Open(0);
  if (!device.ok()) DeviceArray::Die(device.status());
  int version = 0;
  const auto& context = device->kernels().context();
  (void)context->driver().DriverGetVersion(&version);
  std::printf("%s, compute capability %d.%d, driver for CUDA %d.%d\n", context->name().c_str(),
              context->attribute(cuda::kComputeMajor), context->attribute(cuda::kComputeMinor),
              version / 1000, version % 1000 / 10);
  if (mode == "check") return RunChecks(*device);
  return RunBench(*device, argc > 2 ? std::stoul(argv[2]) : 1024);
}

}  // namespace
}  // namespace vernier::gpu

int main(int argc, char** argv) { return vernier::gpu::Main(argc, argv); }
