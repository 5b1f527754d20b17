// How fast decisions about two outputs are made, and how fast the two are read from memory.
//
//   decision_speed KIND DIMS FIRST SECOND ROUNDS    two files of float32, nothing else in them
//
// Prints lines "name value". Built by run_bench.py against the libraries of a build folder.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "decide/kinds/decision.h"
#include "timing.h"

namespace vernier {
namespace {

// Of what a program must have; the first failure ends it.
template <typename T>
T Need(Result<T> result) {
  if (result.ok()) return *std::move(result);
  std::fprintf(stderr, "%s\n", result.status().message().c_str());
  std::exit(1);
}

Tensor ReadTensor(const std::string& path, const Dims& dims) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  return Need(Tensor::Copy(DType::kFloat32, dims, std::as_bytes(std::span(bytes))));
}

uint64_t Sum(const Tensor& tensor) {
  const std::span<const std::byte> bytes = tensor.bytes();
  return SumWords(reinterpret_cast<const uint64_t*>(bytes.data()), bytes.size() / sizeof(uint64_t));
}

int Measure(const std::vector<std::string>& words) {
  const DecisionPlan plan = Need(ParseDecision(words[0]));
  Dims dims;
  std::istringstream sizes(words[1]);
  for (std::string size; std::getline(sizes, size, ',');) dims.push_back(std::stoll(size));
  const Tensor first = ReadTensor(words[2], dims), second = ReadTensor(words[3], dims);
  const int rounds = std::stoi(words[4]);
  uint64_t sum = 0;
  const double read = BestSeconds(rounds, [&] { sum += Sum(first) + Sum(second); });
  size_t samples = 0, flips = 0;
  const double decide = BestSeconds(rounds, [&] {
    const auto made = Need(Decide(plan, first, second, AllowedDifference{1e-3, 1e-3}, {}));
    samples = made.size();
    flips = 0;
    for (const DecisionSample& sample : made) flips += sample.flip == Flip::kNone ? 0 : 1;
  });
  std::printf("read %.9f\ndecide %.9f\nsamples %zu\nflips %zu\nsum %llu\n", read, decide, samples,
              flips, static_cast<unsigned long long>(sum));
  return 0;
}

}  // namespace
}  // namespace vernier

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  return vernier::Measure({argv + 1, argv + argc});
}
