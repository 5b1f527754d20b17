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
  const auto expected = NpySize(*tensor);
  fuzz::Require(expected.ok() && *expected == written.size(), "the size is known beforehand");
  const auto again = ReadNpy(std::as_bytes(std::span(written)), tensor->dtype());
  fuzz::Require(again.ok() && again->dims() == tensor->dims(), "and read again");
  return 0;
}
