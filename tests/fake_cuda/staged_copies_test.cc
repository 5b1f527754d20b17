// Copies in pieces by several threads. Runs with the fake libcuda.so.1, whose device memory is the
// host's, and as well with a real one.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "vernier/backend_cuda_staging.hpp"

namespace vernier::cuda {
namespace {

std::vector<std::byte> RandomBytes(size_t size) {
  std::mt19937_64 engine(size);
  std::vector<std::byte> bytes(size);
  for (size_t at = 0; at < size; at += 8) {
    const uint64_t word = engine();
    std::memcpy(bytes.data() + at, &word, std::min<size_t>(8, size - at));
  }
  return bytes;
}

TEST(StagedCopies, BringEveryByteThereAndBack) {
  const Result<Driver> driver = Driver::Load();
  ASSERT_TRUE(driver.ok()) << driver.status().message();
  Result<PrimaryContext> opened = PrimaryContext::Retain(*driver, 0);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  const auto context = std::make_shared<const PrimaryContext>(*std::move(opened));
  StagedCopies copies(context);
  constexpr size_t kPiece = StagedCopies::kPiece;
  constexpr size_t kLarge = 2 * StagedCopies::kLanes * kPiece;
  // Left to the driver; one lane; several, the last pieces ragged; the pieces used many times.
  for (const size_t size :
       {size_t{0}, size_t{1}, StagedCopies::kWorthStaging - 1, StagedCopies::kWorthStaging, kPiece,
        kPiece + 1, 5 * kPiece - 3, kLarge, kLarge + 1, 3 * kLarge + kPiece / 2 + 7}) {
    const std::vector<std::byte> sent = RandomBytes(size);
    const auto memory = DeviceMemory::Allocate(context, size + 1);
    ASSERT_TRUE(memory.ok());
    std::vector<std::byte> received(size + 1, std::byte{0x5a});
    const CurrentContext current(*context);
    const Status there = copies.ToDevice((*memory)->pointer(), sent.data(), size, nullptr);
    ASSERT_TRUE(there.ok()) << there.message();
    const Status back = copies.ToHost(received.data(), (*memory)->pointer(), size, nullptr);
    ASSERT_TRUE(back.ok()) << back.message();
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), received.begin())) << size;
    EXPECT_EQ(received.back(), std::byte{0x5a}) << size;
  }
}

}  // namespace
}  // namespace vernier::cuda
