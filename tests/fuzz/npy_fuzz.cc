// Arrays of NumPy; what can be read is written and read again.
#include "fuzz_target.h"
#include "io/archive/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vernier;
  const auto bytes = fuzz::Bytes(data, size);
  (void)NpySizeFromStart(bytes);
  const auto tensor = ReadNpy(bytes);
  if (!tensor.ok()) return 0;
  StringSink sink;
  fuzz::Require(WriteNpy(*tensor, sink).ok(), "what was read can be written");
  const std::string written = sink.text();
  const auto written_bytes = std::as_bytes(std::span(written));
  const auto expected = NpySizeFromStart(written_bytes);
  fuzz::Require(expected && *expected == written.size(), "the header says the size");
  const auto again = ReadNpy(written_bytes, tensor->dtype());
  fuzz::Require(again.ok() && again->dims() == tensor->dims(), "and read again");
  return 0;
}
