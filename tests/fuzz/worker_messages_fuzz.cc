// Messages between the program and its workers. The first byte chooses what the rest is read as.
#include "backend/measure_messages.h"
#include "backend/messages.h"
#include "backend/tensor_block.h"
#include "fuzz_target.h"

namespace vernier {
namespace {

void ReadBlock(std::span<const std::byte> bytes) {
  const auto block = DecodeTensors(bytes, UniqueFd());
  if (!block.ok()) return;
  for (const NamedTensor& tensor : block->tensors) {
    fuzz::Require(tensor.tensor.bytes().size() <= bytes.size(), "tensors lie inside the message");
  }
}

void ReadMessage(unsigned kind, std::span<const std::byte> bytes) {
  MessageReader in(bytes);
  switch (kind % 7) {
    case 0:
      (void)LoadRequest::Decode(in);
      break;
    case 1:
      (void)BackendInfo::Decode(in);
      break;
    case 2:
      (void)OpenRequest::Decode(in);
      break;
    case 3:
      (void)SessionDescription::Decode(in);
      break;
    case 4:
      (void)RunAndKeepRequest::Decode(in);
      break;
    case 5:
      (void)DecodeStatus(in);
      break;
    default:
      (void)DecodeRequest(in);
  }
}

}  // namespace
}  // namespace vernier

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vernier;
  if (size == 0) return 0;
  const auto rest = fuzz::Bytes(data + 1, size - 1);
  if (data[0] == 'b') {
    ReadBlock(rest);
  } else {
    ReadMessage(data[0], rest);
  }
  return 0;
}
