// Messages between the program and its workers. The first byte chooses what the rest is read as.
#include <sys/socket.h>

#include <algorithm>

#include "backend/wire/channel.h"
#include "backend/wire/measure_messages.h"
#include "backend/wire/messages.h"
#include "backend/wire/tensor_block.h"
#include "backend/wire/trial_messages.h"
#include "backend/worker/image_messages.h"
#include "fuzz_target.h"
#include "kernels/measures/pair_measures.h"

namespace vernier {
namespace {

void ReadBlock(std::span<const std::byte> bytes) {
  const auto block = DecodeTensors(bytes, UniqueFd());
  if (!block.ok()) return;
  for (const NamedTensor& tensor : block->tensors) {
    fuzz::Require(tensor.tensor.bytes().size() <= bytes.size(), "tensors lie inside the message");
  }
}

// What arrives on the socket itself, after which the other end is gone.
void ReadFrames(std::span<const std::byte> bytes) {
  auto ends = Channel::CreatePair();
  constexpr size_t kFitsSocket = 100'000;
  const std::span<const std::byte> sent = bytes.first(std::min(bytes.size(), kFitsSocket));
  fuzz::Require(ends.ok() && ::send(ends->first.descriptor(), sent.data(), sent.size(), 0) ==
                                 static_cast<ssize_t>(sent.size()),
                "a socket takes the bytes");
  ends->first = Channel(UniqueFd());
  for (auto frame = ends->second.Receive(); frame.ok() && frame->has_value();
       frame = ends->second.Receive()) {
    fuzz::Require((*frame)->body.size() <= sent.size(), "a frame is made of what arrived");
  }
}

void ReadMessage(unsigned kind, std::span<const std::byte> bytes) {
  MessageReader in(bytes);
  switch (kind % 10) {
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
    case 4: {
      (void)RunAndKeepRequest::Decode(in);
      MessageReader as_step(bytes);
      (void)RunStepRequest::Decode(as_step);
      break;
    }
    case 5:
      (void)DecodeStatus(in);
      break;
    case 6:
      (void)TrialRequest::Decode(in);
      break;
    case 7:
      (void)TrialReport::Decode(in);
      break;
    case 9:
      (void)ImageRequest::Decode(in);
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
  } else if (data[0] == 'f') {
    ReadFrames(rest);
  } else {
    ReadMessage(data[0], rest);
  }
  return 0;
}
