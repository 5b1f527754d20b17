#include "run/live/tensor_release.h"

#include <utility>

namespace vernier {
namespace {

// What takes longer to free than a thread to start, by far.
constexpr size_t kWorthReleaseThread = size_t{32} << 20;

}  // namespace

void TensorRelease::Add(TensorMap tensors) {
  size_t bytes = 0;
  for (const NamedTensor& tensor : tensors) bytes += tensor.tensor.bytes().size();
  if (bytes < kWorthReleaseThread) return;
  // If no thread is available, Wait() does this synchronously.
  pending_.push_back(std::async(
      [held = std::move(tensors)]() mutable { const TensorMap released = std::move(held); }));
}

void TensorRelease::Wait() { pending_.clear(); }

}  // namespace vernier
