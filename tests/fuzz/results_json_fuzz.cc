// Polygraphy's JSON, read as outputs and as inputs, every iteration.
#include "fuzz_target.h"
#include "io/results/feed_reader.h"
#include "io/results/results_json.h"

namespace vernier {
namespace {

// Documents repeat little pieces without end more cheaply than anything is learnt from them.
constexpr size_t kMostIterations = 64;

void ReadOutputs(const std::string& path) {
  const auto source = OpenJsonResults(path);
  if (!source.ok()) return;
  for (size_t run = 0; run < (*source)->runs().size() && run < kMostIterations; ++run) {
    const size_t count = (*source)->runs()[run].iterations;
    for (size_t i = 0; i < count && i < kMostIterations; ++i) (void)(*source)->Read(run, i);
  }
}

void ReadInputs(const std::string& path) {
  const auto reader = FeedReader::Open({path});
  if (!reader.ok()) return;
  for (size_t i = 0; i < kMostIterations; ++i) {
    const auto feed = (*reader)->Next();
    if (!feed.ok() || !feed->has_value()) return;
  }
}

}  // namespace
}  // namespace vernier

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const vernier::fuzz::FileOfInput file(data, size);
  vernier::ReadOutputs(file.path());
  vernier::ReadInputs(file.path());
  return 0;
}
