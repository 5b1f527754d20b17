// Tensors of ONNX test data.
#include <algorithm>

#include "fuzz_target.h"
#include "io/test_data/nested_proto.h"
#include "io/test_data/tensor_proto.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vernier;
  (void)ParseTestData(fuzz::Bytes(data, size), "x").ok();
  const auto tensor = ParseTensorProto(fuzz::Bytes(data, size));
  if (!tensor.ok()) return 0;
  StringSink sink;
  fuzz::Require(WriteTensorProto(*tensor, sink).ok(), "what was read can be written");
  const std::string written = sink.text();
  const auto again = ParseTensorProto(std::as_bytes(std::span(written)));
  fuzz::Require(again.ok() && again->name == tensor->name &&
                    again->tensor.dtype() == tensor->tensor.dtype() &&
                    again->tensor.dims() == tensor->tensor.dims() &&
                    std::ranges::equal(again->tensor.bytes(), tensor->tensor.bytes()),
                "and read again");
  return 0;
}
