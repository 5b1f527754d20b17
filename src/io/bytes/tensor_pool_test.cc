#include "io/bytes/tensor_pool.h"

#include <gtest/gtest.h>

#include <cstring>

namespace vernier {
namespace {

Tensor Make(TensorPool& pool, int64_t size, int value) {
  const auto tensor = pool.Make(DType::kUint8, {size}, [value](std::span<std::byte> out) {
    std::memset(out.data(), value, out.size());
    return Status();
  });
  EXPECT_TRUE(tensor.ok());
  return *tensor;
}

TEST(TensorPool, UsesMemoryAgainWhenTheTensorIsDropped) {
  const auto pool = TensorPool::Create();
  const std::byte* first = nullptr;
  {
    const Tensor tensor = Make(*pool, 1 << 20, 1);
    first = tensor.bytes().data();
    EXPECT_EQ(pool->idle_bytes(), 0u);
  }
  EXPECT_EQ(pool->idle_bytes(), size_t{1} << 20);
  const Tensor second = Make(*pool, 1 << 20, 2);
  EXPECT_EQ(second.bytes().data(), first);
  const Tensor third = Make(*pool, 1 << 20, 3);
  EXPECT_NE(third.bytes().data(), first);
  EXPECT_EQ(second.bytes()[12345], std::byte{2});
}

TEST(TensorPool, KeepsNothingWhenSizesChange) {
  const auto pool = TensorPool::Create();
  for (int64_t size = 1 << 20; size < (1 << 20) + 100; ++size) {
    Make(*pool, size, 1);
    EXPECT_EQ(pool->idle_bytes(), static_cast<size_t>(size));
  }
}

TEST(TensorPool, TensorsOutliveIt) {
  auto pool = TensorPool::Create();
  const Tensor tensor = Make(*pool, 64 << 20, 7);
  pool = nullptr;
  EXPECT_EQ(tensor.bytes().back(), std::byte{7});
}

TEST(TensorPool, ErrorsOfFillingAreReturned) {
  const auto pool = TensorPool::Create();
  const auto fail = [](std::span<std::byte>) { return Malformed("no"); };
  EXPECT_EQ(pool->Make(DType::kUint8, {1 << 20}, fail).status().message(), "no");
  EXPECT_EQ(pool->idle_bytes(), size_t{1} << 20);
  EXPECT_EQ(pool->Make(DType::kUint8, {-1}, fail).status().code(), StatusCode::kMalformed);
}

}  // namespace
}  // namespace vernier
