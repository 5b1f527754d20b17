// How fast saved outputs are loaded and saved, without the tool around it.
//
//   file_speed load PATH ROUNDS       every tensor of every iteration, in a run's order
//   file_speed save PATH MEBIBYTES ROUNDS    one float32 output; with syncing, as always
//   file_speed limit PATH MEBIBYTES ROUNDS   what the machine takes for a run whose input and two
//                                            outputs have so many bytes each: to fill new memory
//                                            with the three, to write the two to a file, to sync it
//
// Prints lines "name value". Built by run_bench.py against the libraries of a build folder.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "io/bytes/part_file.h"
#include "io/results/results_reader.h"
#include "io/results/results_writer.h"
#include "timing.h"
#include "util/files/shared_memory.h"

namespace vernier {
namespace {

// The best time; the first failure ends the program.
template <typename Function>
double BestSecondsOf(int rounds, const Function& function) {
  return BestSeconds(rounds, [&] {
    const Status status = function();
    if (status.ok()) return;
    std::fprintf(stderr, "%s\n", status.message().c_str());
    std::exit(1);
  });
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

// Both fill from a buffer that stays in the cache: what is counted is the destination alone.
Status FillMemory(size_t mebibytes) {
  const std::vector<std::byte> part(size_t{256} << 10, std::byte{1});
  VERNIER_ASSIGN_OR_RETURN(const auto memory, SharedMemory::Create());
  VERNIER_TRY(memory->Extend(uint64_t{mebibytes} << 20).status());
  for (uint64_t i = 0; i < 4 * mebibytes; ++i) {
    VERNIER_TRY(memory->WriteAt(i * part.size(), part));
  }
  return {};
}

Status FillFile(const std::string& path, size_t mebibytes, double& written) {
  const std::vector<std::byte> part(size_t{256} << 10, std::byte{1});
  std::remove(path.c_str());
  VERNIER_ASSIGN_OR_RETURN(PartFile file, PartFile::Create(path));
  file.WriteBackEarly();
  Status status;
  written = std::min(written, BestSeconds(1, [&] {
                       for (size_t i = 0; i < 4 * mebibytes && status.ok(); ++i)
                         status = file.Write(part);
                     }));
  VERNIER_TRY(status);
  return ::fsync(file.fd()) == 0 ? Status() : IoError("the file cannot be synced");
}

void ReportLimits(const std::string& path, size_t mebibytes, int rounds) {
  double written = 1e9;
  const double memory = BestSecondsOf(rounds, [&] { return FillMemory(3 * mebibytes); });
  const double file = BestSecondsOf(rounds, [&] { return FillFile(path, 2 * mebibytes, written); });
  std::remove(path.c_str());
  std::printf("memory %.6f\nwritten %.6f\nsynced %.6f\n", memory, written, file);
}

int Main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string path = argv[2];
  const int rounds = std::atoi(argv[argc - 1]);
  if (std::string(argv[1]) == "load") {
    uint64_t bytes = 0;
    const double seconds = BestSecondsOf(rounds, [&] { return LoadAll(path, bytes); });
    std::printf("seconds %.6f\ntensor_bytes %llu\n", seconds,
                static_cast<unsigned long long>(bytes));
    return 0;
  }
  if (std::string(argv[1]) == "limit") {
    ReportLimits(path, static_cast<size_t>(std::atoi(argv[3])), rounds);
    return 0;
  }
  const auto result = RandomOutput(static_cast<size_t>(std::atoi(argv[3])));
  if (!result.ok()) return 1;
  const double seconds = BestSecondsOf(rounds, [&] { return Save(path, *result); });
  std::printf("seconds %.6f\ntensor_bytes %llu\n", seconds,
              static_cast<unsigned long long>(result->outputs[0].tensor.bytes().size()));
  return 0;
}

}  // namespace
}  // namespace vernier

int main(int argc, char** argv) { return vernier::Main(argc, argv); }
