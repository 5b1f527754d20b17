#include "io/bytes/tensor_pool.h"

#include <sys/mman.h>

#include <new>
#include <utility>

#include "core/memory_limit.h"
#include "util/threads/memory_pages.h"

namespace vernier {
namespace {

// Smaller ones come from the allocator's own lists, which are as fast.
constexpr size_t kWorthKeeping = size_t{64} << 10;
constexpr size_t kWorthHugePages = 8 * kHugePage;

using Block = std::unique_ptr<std::byte, void (*)(std::byte*)>;

template <size_t alignment>
Block Allocate(size_t size) {
  constexpr std::align_val_t kAlignment{alignment};
  auto* data = static_cast<std::byte*>(::operator new(size, kAlignment, std::nothrow));
  if (data != nullptr && alignment == kHugePage) {
    // Whole huge pages only: the last one's unused end would count as memory in use.
    ::madvise(data, size / kHugePage * kHugePage, MADV_HUGEPAGE);
  }
  return Block(data, [](std::byte* p) { ::operator delete(p, kAlignment); });
}

}  // namespace

std::shared_ptr<std::byte> TensorPool::Take(size_t size) {
  if (size > MemoryLimit()) return nullptr;
  Block block(nullptr, nullptr);
  {
    const std::lock_guard lock(mutex_);
    const auto found = idle_.find(size);
    if (found != idle_.end()) {
      block = std::move(found->second);
      idle_.erase(found);
    } else {
      idle_.clear();
    }
  }
  if (block == nullptr)
    block = size < kWorthHugePages ? Allocate<64>(size) : Allocate<kHugePage>(size);
  if (block == nullptr) return nullptr;
  std::byte* data = block.release();
  return {data, [pool = weak_from_this(), size, release = block.get_deleter()](std::byte* p) {
            Block returned(p, release);
            if (const auto alive = pool.lock()) alive->Return(std::move(returned), size);
          }};
}

void TensorPool::Return(Block block, size_t size) {
  const std::lock_guard lock(mutex_);
  idle_.emplace(size, std::move(block));
}

size_t TensorPool::idle_bytes() const {
  const std::lock_guard lock(mutex_);
  size_t total = 0;
  for (const auto& [size, block] : idle_) total += size;
  return total;
}

Result<Tensor> TensorPool::Make(DType dtype, Dims dims, const Fill& fill) {
  const auto count = ElementCount(dims);
  const auto size = count ? ByteSize(dtype, static_cast<uint64_t>(*count)) : std::nullopt;
  if (!size || *size < kWorthKeeping) return MakeTensor(nullptr, dtype, std::move(dims), fill);
  std::shared_ptr<std::byte> block = Take(static_cast<size_t>(*size));
  if (block == nullptr) return Internal("out of memory: " + std::to_string(*size) + " bytes");
  const std::span<std::byte> bytes(block.get(), static_cast<size_t>(*size));
  VERNIER_TRY(fill(bytes));
  return Tensor::Wrap(dtype, std::move(dims), bytes, std::move(block));
}

Result<Tensor> MakeTensor(TensorPool* pool, DType dtype, Dims dims, const TensorPool::Fill& fill) {
  if (pool != nullptr) return pool->Make(dtype, std::move(dims), fill);
  VERNIER_ASSIGN_OR_RETURN(TensorBuffer buffer, TensorBuffer::Allocate(dtype, std::move(dims)));
  VERNIER_TRY(fill(buffer.bytes()));
  return std::move(buffer).Freeze();
}

}  // namespace vernier
