// How fast saved outputs are loaded and saved, without the tool around it.
//
//   file_speed load PATH ROUNDS       every tensor of every iteration, in a run's order
//   file_speed save PATH MEBIBYTES ROUNDS    one float32 output; with syncing, as always
//
// Prints lines "name value". Built by run_bench.py against the libraries of a build folder.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "io/results_reader.h"
#include "io/results_writer.h"

namespace vernier {
namespace {

template <typename Function>
double BestSeconds(int rounds, const Function& function) {
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const Status status = function();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (!status.ok()) {
      std::fprintf(stderr, "%s\n", status.message().c_str());
      std::exit(1);
    }
    best = std::min(best, taken.count());
  }
  return best;
}

Status LoadAll(const std::string& path, uint64_t& bytes) {
  bytes = 0;
  VERNIER_ASSIGN_OR_RETURN(const auto reader, ResultsReader::Open(path));
  size_t longest = 0;
  for (const SavedRun& run : reader->runs()) longest = std::max(longest, run.iterations);
  for (size_t i = 0; i < longest; ++i) {
    for (size_t run = 0; run < reader->runs().size(); ++run) {
      if (i >= reader->runs()[run].iterations) continue;
      VERNIER_ASSIGN_OR_RETURN(const IterationResult result, reader->Read(run, i));
      for (const NamedTensor& output : result.outputs) bytes += output.tensor.bytes().size();
    }
  }
  return {};
}

Result<IterationResult> RandomOutput(size_t mebibytes) {
  std::mt19937_64 random(1);
  VERNIER_ASSIGN_OR_RETURN(
      TensorBuffer buffer,
      TensorBuffer::Allocate(DType::kFloat32, {static_cast<int64_t>(mebibytes << 18)}));
  for (float& value : buffer.As<float>()) {
    value = static_cast<float>(random() >> 40) / static_cast<float>(1 << 24);
  }
  IterationResult result{.runner_name = "r", .runtime_s = 0.5, .outputs = {}};
  result.outputs.push_back({"y", std::move(buffer).Freeze()});
  return result;
}

Status Save(const std::string& path, const IterationResult& result) {
  VERNIER_ASSIGN_OR_RETURN(const auto writer, ResultsWriter::Create(path, {"r"}));
  VERNIER_TRY(writer->Append(0, result));
  return writer->Publish();
}

int Main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string path = argv[2];
  const int rounds = std::atoi(argv[argc - 1]);
  if (std::string(argv[1]) == "load") {
    uint64_t bytes = 0;
    const double seconds = BestSeconds(rounds, [&] { return LoadAll(path, bytes); });
    std::printf("seconds %.6f\ntensor_bytes %llu\n", seconds,
                static_cast<unsigned long long>(bytes));
    return 0;
  }
  const auto result = RandomOutput(static_cast<size_t>(std::atoi(argv[3])));
  if (!result.ok()) return 1;
  const double seconds = BestSeconds(rounds, [&] { return Save(path, *result); });
  std::printf("seconds %.6f\ntensor_bytes %llu\n", seconds,
              static_cast<unsigned long long>(result->outputs[0].tensor.bytes().size()));
  return 0;
}

}  // namespace
}  // namespace vernier

int main(int argc, char** argv) { return vernier::Main(argc, argv); }
