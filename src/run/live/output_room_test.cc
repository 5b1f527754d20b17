#include "run/live/output_room.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <vector>

#include "inputs/memory_room.h"

namespace vernier {
namespace {

TEST(OutputRoom, CountsWhatTheFeedTells) {
  SessionDescription session;
  session.inputs = {{"x", DType::kFloat32, std::vector<Dim>{{-1, "n"}, {3, {}}}}};
  const std::vector<std::byte> bytes(5 * 3 * 4);
  const TensorMap feed = {{"x", *Tensor::Copy(DType::kFloat32, {5, 3}, bytes)}};
  session.outputs = {{"fixed", DType::kFloat16, std::vector<Dim>{{2, {}}, {4, {}}}},
                     {"named", DType::kFloat64, std::vector<Dim>{{-1, "n"}, {2, {}}}},
                     {"other", DType::kFloat32, std::vector<Dim>{{-1, "m"}}},
                     {"unnamed", DType::kFloat32, std::vector<Dim>{{-1, {}}}},
                     {"unknown", DType::kFloat32, std::nullopt},
                     {"text", DType::kString, std::vector<Dim>{{7, {}}}}};
  EXPECT_EQ(KnownOutputBytes(session, feed), 2u * 4 * 2 + 5 * 2 * 8);
  session.outputs.push_back(
      {"huge", DType::kFloat32, std::vector<Dim>{{int64_t{1} << 40, {}}, {int64_t{1} << 40, {}}}});
  EXPECT_EQ(KnownOutputBytes(session, feed), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(KnownOutputBytes(SessionDescription(), feed), 0u);
}

TEST(OutputRoom, MoreThanThereIsIsRefused) {
  EXPECT_TRUE(CheckMemoryRoom(1 << 20, "the outputs").ok());
  const Status refused = CheckMemoryRoom(std::numeric_limits<uint64_t>::max(), "the outputs");
  EXPECT_EQ(refused.code(), StatusCode::kMalformed);
  EXPECT_TRUE(refused.message().starts_with("the outputs of one iteration take "))
      << refused.message();
}

}  // namespace
}  // namespace vernier
